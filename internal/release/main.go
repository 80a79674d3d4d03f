// Release writes and checks what goes along with a release:
//
//	go run ./internal/release sbom FILE...     the CycloneDX list of what they contain
//	go run ./internal/release check FILE...    what every program of a release must be
//
// FILE is a program or the library of the Python module, built by the go command.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

var errUsage = errors.New("usage: release sbom|check FILE")

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, args []string) error {
	if len(args) < 2 {
		return errUsage
	}
	switch args[0] {
	case "sbom":
		return writeBill(w, args[1:], os.Getenv("SOURCE_DATE_EPOCH"))
	case "check":
		for _, file := range args[1:] {
			line, err := check(file)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			if _, err := fmt.Fprintln(w, line); err != nil {
				return err
			}
		}
		return nil
	}
	return errUsage
}
