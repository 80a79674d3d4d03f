package bindings

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strings"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/internal/quote"
	"github.com/scqm/scqm/models/mean"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/plugins"
)

var (
	errJob     = errors.New("no such job")
	errStopped = errors.New("budget used up")
)

// kinds maps errors to the kind that the error text begins with. The first match is used.
var kinds = []struct {
	mark error
	kind string
}{
	{framework.ErrPanic, "panic"},
	{memory.ErrTooLarge, "memory"},
	{errJob, "job"},
	{errStopped, "stopped"},
	{context.Canceled, "cancelled"},
	{context.DeadlineExceeded, "stopped"},
	{framework.ErrNonFinite, "nonfinite"},
	{fs.ErrNotExist, "file"},
	{fs.ErrPermission, "file"},
	{scqm.ErrInput, "input"},
	{scqm.ErrAllRows, "input"},
	{scqm.ErrNotMinimum, "input"},
	{mean.ErrNoCurvature, "input"},
	{framework.ErrInvalid, "input"},
	{dataset.ErrInput, "input"},
}

// marks are errors that only identify the kind. Their text is removed from messages.
var marks = []error{scqm.ErrInput, framework.ErrInvalid, dataset.ErrInput}

// fileError marks an error as a failure to write a file. It takes precedence over other kinds.
type fileError struct{ error }

func (e fileError) Unwrap() error { return e.error }

// reported is an error text in the form that the package comment defines.
type reported string

func (r reported) Error() string { return string(r) }

// report converts an error to a text of the form that the package comment defines.
func report(err error) error {
	var done reported
	if errors.As(err, &done) {
		return done
	}
	kind := kindOf(err)
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "scqm: "), "mean: ")
	for _, mark := range marks {
		text = strings.TrimSuffix(text, ": "+mark.Error())
		text = strings.ReplaceAll(text, mark.Error()+": ", "")
	}
	return reported(kind + ": " + quote.Escape(text))
}

func kindOf(err error) string {
	if errors.As(err, new(fileError)) {
		return "file"
	}
	for _, k := range kinds {
		if errors.Is(err, k.mark) {
			return k.kind
		}
	}
	if failure := new(plugins.Error); errors.As(err, &failure) {
		return "plugin"
	}
	if path := new(fs.PathError); errors.As(err, &path) {
		return "file"
	}
	return "failed"
}

// guarded runs the body of an exported function. It converts panics and accesses to
// unmapped memory to errors.
func guarded[T any](act string, body func() (T, error)) (result T, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if err != nil {
			err = report(err)
		}
	}()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: %w: %v\n%s", act, framework.ErrPanic, p, debug.Stack())
		}
	}()
	return body()
}
