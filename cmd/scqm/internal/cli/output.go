package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/stdio"
)

// closedFile is a standard file that was closed when the program began.
type closedFile struct{ name, remedy string }

func (c closedFile) Error() string { return c.name + " is closed; " + c.remedy }

// Read fails.
func (c closedFile) Read([]byte) (int, error) { return 0, Usagef("%w", c) }

// Write fails.
func (c closedFile) Write([]byte) (int, error) { return 0, c }

// StandardInput is where - reads from. closed has a bit for each descriptor that
// was closed when the program began; see stdio.Closed.
func StandardInput(closed uint32) io.Reader {
	if closed&(1<<stdio.In) != 0 {
		return closedFile{"standard input", "name a file, or send it one with <"}
	}
	return os.Stdin
}

// StandardOutput is where results and reports go.
func StandardOutput(closed uint32) io.Writer {
	if closed&(1<<stdio.Out) != 0 {
		return closedFile{"standard output", "send it to a file, or to /dev/null"}
	}
	return os.Stdout
}

// Output is standard output. It remembers its first error, which those who
// print help pass over, and does not wait for a reader after a signal.
type Output struct {
	io.Writer

	ctx context.Context
	err error
}

// NewOutput returns standard output for a command that ctx interrupts.
func NewOutput(ctx context.Context, w io.Writer) *Output { return &Output{Writer: w, ctx: ctx} }

// Err is the first error of writing, nil where there was none.
func (o *Output) Err() error { return o.err }

// Write writes all of p, or fails with what failed before.
func (o *Output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := awaitBriefly(o.ctx, func() (int, error) { return o.Writer.Write(p) })
	var path *fs.PathError
	var closed closedFile
	switch {
	case err == nil:
		return n, nil
	case errors.As(err, &path):
		err = fmt.Errorf("standard output: %w", path.Err)
	case !errors.As(err, &closed) && !errors.Is(err, context.Canceled):
		err = fmt.Errorf("standard output: %w", err)
	}
	o.err = err
	return n, err
}

// Check fails where nothing can be written at all, before long work is done in
// vain.
func (o *Output) Check() error {
	if closed, ok := o.Writer.(closedFile); ok {
		return closed
	}
	return nil
}

// lastWords is how long what an interrupted command has to say may take on a
// pipe or a device, which may have nobody at its other end.
const lastWords = 2 * time.Second

// awaitBriefly does work of which a part may be lost, such as writing to a pipe. A
// context that is done leaves it lastWords to end.
func awaitBriefly[T any](ctx context.Context, work func() (T, error)) (T, error) {
	if ctx.Err() == nil {
		return Await(ctx, work)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	value, err := Await(last, work)
	if errors.Is(err, context.DeadlineExceeded) {
		err = ctx.Err()
	}
	return value, err
}

// Save writes the file path. What takes the place of an older file is finished
// whatever happens. A pipe or a device, whose other end may be nobody's, is left
// behind when a signal comes.
func Save(ctx context.Context, path string, write func() error) error {
	work := func() (struct{}, error) { return struct{}{}, write() }
	if !dataset.IsStream(path) {
		_, err := Await(context.WithoutCancel(ctx), work)
		return err
	}
	_, err := awaitBriefly(ctx, work)
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%s: not written in full, for nobody reads it: %w", path, err)
	}
	return err
}
