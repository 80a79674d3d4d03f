package bindings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
)

// input is what a job is started with. It keeps the first error; what is read after one is of no
// use, and may be nil.
type input struct {
	settings string
	arrays   map[string]array // that were not read yet
	brief    bool             // see [begin]
	err      error
}

func (in *input) note(err error) {
	if in.err == nil {
		in.err = err
	}
}

// decode reads the settings.
func (in *input) decode(into any) { in.note(decode(in.settings, into)) }

// optional is an array of a shape, in which -1 stands for any length, and its shape; nil where
// there is none.
func (in *input) optional(name string, shape ...int) ([]float64, []int) {
	a, ok := in.arrays[name]
	if !ok {
		return nil, make([]int, len(shape))
	}
	delete(in.arrays, name)
	fits := func(have, want int) bool { return want < 0 || have == want }
	if !slices.EqualFunc(a.shape(), shape, fits) {
		in.note(fmt.Errorf("%s: shape %v, not %v: %w", name, a.shape(), shape, framework.ErrInvalid))
		return nil, make([]int, len(shape))
	}
	x, err := elements[float64](name, a)
	in.note(err)
	return x, a.shape()
}

// numbers returns an array and its shape as [input.optional] does, but notes an error if the array is missing.
func (in *input) numbers(name string, shape ...int) ([]float64, []int) {
	if _, ok := in.arrays[name]; !ok {
		in.note(fmt.Errorf("%s: no array: %w", name, framework.ErrInvalid))
	}
	return in.optional(name, shape...)
}

// bytes are an array of bytes, nil where there is none.
func (in *input) bytes(name string) []byte {
	a, ok := in.arrays[name]
	if !ok {
		return nil
	}
	delete(in.arrays, name)
	b, err := elements[byte](name, a)
	in.note(err)
	return b
}

// data are the rows x, with one weight for each at weights (none: all 1).
func (in *input) data() scqm.Data {
	x, shape := in.numbers("x", -1, -1)
	weights, _ := in.optional("weights", shape[0])
	return scqm.Data{N: shape[0], D: shape[1], X: x, Weights: weights}
}

// array is numbers of Python's: the address, the bytes of a number, and the shape.
type array []int

// arrayHead is how many numbers of an array are before its shape.
const arrayHead = 2

// shape is that of the array, nil where it is none.
func (a array) shape() []int { return a[min(arrayHead, len(a)):] }

// decode reads settings; a name that does not exist is a fault.
func decode(text string, into any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("settings: %w: %w", err, framework.ErrInvalid)
	}
	return nil
}

// encode writes a report.
func encode(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}
