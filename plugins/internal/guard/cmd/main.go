// Command cmd is an executable that only runs a guard. Hosts that are not Go programs use it.
package main

import (
	"os"

	"github.com/scqm/scqm/plugins/internal/guard"
)

func main() {
	guard.Run()
	os.Stderr.WriteString("scqm starts this program by itself, beside a plugin\n")
	os.Exit(2)
}
