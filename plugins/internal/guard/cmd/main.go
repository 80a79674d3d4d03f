// Command cmd is a guard and nothing else, for hosts that are no Go programs.
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
