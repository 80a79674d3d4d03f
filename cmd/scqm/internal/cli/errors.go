// Package cli holds code that all commands of scqm share: values of flags, arguments,
// errors and exit codes, printing, and waiting for work that cannot be cancelled.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/experiments"
	"github.com/scqm/scqm/internal/quote"
	"github.com/scqm/scqm/models/scqm"
)

// Exit codes. A process that a signal ended exits with 128 plus its number.
const (
	ExitFailed      = 1
	ExitUsage       = 2
	ExitInterrupted = 130
)

// ErrUsage matches errors of an invalid command line.
var ErrUsage = errors.New("wrong usage")

// marks are errors that ExitCode matches to find the kind of an error. OneLine removes their text from messages.
var marks = []error{ErrUsage, dataset.ErrInput, scqm.ErrInput, framework.ErrInvalid, experiments.ErrDigits, experiments.ErrImages}

// Interruption is the cancellation cause of a context that a signal cancelled.
type Interruption struct{ os.Signal }

// Error returns the name of the signal.
func (i Interruption) Error() string { return i.String() }

// ExitCode returns the exit code that shells use for a process that this signal ended.
func (i Interruption) ExitCode() int {
	if s, ok := i.Signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return ExitInterrupted
}

// Usagef returns an error that matches ErrUsage and any error that the format wraps.
func Usagef(format string, args ...any) error {
	return fmt.Errorf("%w: %w", fmt.Errorf(format, args...), ErrUsage)
}

// ExitCode returns the exit code for the error err of a command. It is 0 if err is nil.
func ExitCode(ctx context.Context, err error) int {
	if err == nil {
		return 0
	}
	if errors.Is(err, context.Canceled) {
		var signal Interruption
		if errors.As(context.Cause(ctx), &signal) {
			return signal.ExitCode()
		}
		return ExitInterrupted
	}
	for _, mark := range marks {
		if errors.Is(err, mark) {
			return ExitUsage
		}
	}
	return ExitFailed
}

// OneLine formats the error of a command as one line: the command, the place, the cause
// and the remedy, each once. args are the arguments of the command line.
func OneLine(cmd *cobra.Command, err error, args ...string) string {
	text, _, _ := strings.Cut(quoteArguments(err.Error(), args), "\n")
	command := strings.ReplaceAll(cmd.CommandPath(), " ", ": ") + ": "
	text = strings.TrimPrefix(text, command)
	text = strings.TrimPrefix(strings.TrimPrefix(text, "scqm: "), cmd.Name()+": ")
	for _, mark := range marks {
		text = strings.TrimSuffix(text, ": "+mark.Error())
		text = strings.ReplaceAll(text, mark.Error()+": ", "")
	}
	return command + quote.Escape(strings.ReplaceAll(text, context.Canceled.Error(), "interrupted"))
}

// quoteArguments quotes each occurrence in text of an argument that has characters
// which would break the line or move the cursor.
func quoteArguments(text string, args []string) string {
	for _, arg := range args {
		if _, value, set := strings.Cut(arg, "="); set && strings.HasPrefix(arg, "-") {
			arg = value
		}
		if shown := quote.Marks(arg); shown != arg {
			text = strings.ReplaceAll(text, arg, shown)
		}
	}
	return text
}

// Warn prints one line on stderr: the command and text, which says what is wrong with the result.
func Warn(cmd *cobra.Command, text string) {
	text, _, _ = strings.Cut(text, "\n")
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning: %s\n", strings.ReplaceAll(cmd.CommandPath(), " ", ": "), quote.Escape(text))
}
