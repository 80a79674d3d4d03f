package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/experiments"
	"github.com/scqm/scqm/models/scqm"
)

// Exit codes. A process that a signal ended exits with 128 plus its number.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// errUsage marks a command line that asks for what cannot be.
var errUsage = errors.New("wrong usage")

// marks say of what kind an error is. They are for exitCode, not for people.
var marks = []error{errUsage, dataset.ErrInput, scqm.ErrInput, framework.ErrInvalid, experiments.ErrDigits, experiments.ErrImages}

// usagef returns an error that matches errUsage and what the format wraps.
func usagef(format string, args ...any) error {
	return fmt.Errorf("%w: %w", fmt.Errorf(format, args...), errUsage)
}

func exitCode(ctx context.Context, err error) int {
	if err == nil {
		return 0
	}
	if errors.Is(err, context.Canceled) {
		var signal interruption
		if errors.As(context.Cause(ctx), &signal) {
			return signal.exitCode()
		}
		return exitInterrupted
	}
	for _, mark := range marks {
		if errors.Is(err, mark) {
			return exitUsage
		}
	}
	return exitFailed
}

// oneLine renders the error of a command: the command, the place, the cause and
// the remedy, each once.
func oneLine(cmd *cobra.Command, err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	command := strings.ReplaceAll(cmd.CommandPath(), " ", ": ") + ": "
	text = strings.TrimPrefix(text, command)
	text = strings.TrimPrefix(strings.TrimPrefix(text, "scqm: "), cmd.Name()+": ")
	for _, mark := range marks {
		text = strings.TrimSuffix(text, ": "+mark.Error())
		text = strings.ReplaceAll(text, mark.Error()+": ", "")
	}
	return command + strings.ReplaceAll(text, context.Canceled.Error(), "interrupted")
}
