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

// kinds says which kind of failure an error is; the first match counts.
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

// marks are for kinds, not for people.
var marks = []error{scqm.ErrInput, framework.ErrInvalid, dataset.ErrInput}

// fileError marks a failure to write a file, whatever else it is.
type fileError struct{ error }

func (e fileError) Unwrap() error { return e.error }

// reported is the text of an error in the form that package bindings promises.
type reported string

func (r reported) Error() string { return string(r) }

// report brings an error into that form.
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

// guarded runs the body of an exported function: panics become errors, and so
// do faults from addresses that are not mapped.
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
