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

// closedFile stands for a standard stream whose file descriptor was closed when the program began.
type closedFile struct{ name, remedy string }

func (c closedFile) Error() string { return c.name + " is closed; " + c.remedy }

// Read returns a usage error.
func (c closedFile) Read([]byte) (int, error) { return 0, Usagef("%w", c) }

// Write returns an error.
func (c closedFile) Write([]byte) (int, error) { return 0, c }

// StandardInput returns the reader for the path -. Bit n of closed means that file
// descriptor n was closed when the program began; see stdio.Closed.
func StandardInput(closed uint32) io.Reader {
	if closed&(1<<stdio.In) != 0 {
		return closedFile{"standard input", "name a file, or send it one with <"}
	}
	return os.Stdin
}

// StandardOutput returns the writer for results and reports. closed is that of [StandardInput].
func StandardOutput(closed uint32) io.Writer {
	if closed&(1<<stdio.Out) != 0 {
		return closedFile{"standard output", "send it to a file, or to /dev/null"}
	}
	return os.Stdout
}

// Output is standard output. It stores its first write error, because code that prints
// help ignores write errors. After a signal it does not wait for a blocked reader.
type Output struct {
	io.Writer

	ctx context.Context
	err error
}

// NewOutput returns standard output for a command that ctx interrupts.
func NewOutput(ctx context.Context, w io.Writer) *Output { return &Output{Writer: w, ctx: ctx} }

// Err returns the first write error, or nil if there was none.
func (o *Output) Err() error { return o.err }

// Write writes all of p. After a failed write it returns the error of that write.
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

// Check returns an error if standard output cannot be written. Commands call it before
// they start long work.
func (o *Output) Check() error {
	if closed, ok := o.Writer.(closedFile); ok {
		return closed
	}
	return nil
}

// lastWords is the maximum time for the final output of an interrupted command to a
// pipe or a device, which may have no reader.
const lastWords = 2 * time.Second

// awaitBriefly runs work whose output may be lost in part, such as a write to a pipe.
// Once ctx is done, it waits for work at most lastWords.
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

// Save calls write to write the file path. The replacement of an existing file is
// always completed. After a signal, Save stops waiting for a pipe or a device, which
// may have no reader.
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
