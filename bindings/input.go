package bindings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
)

// input holds the settings and arrays of a job that starts. It stores the first error.
// After an error, the values that its methods return may be nil and must not be used.
type input struct {
	settings string
	arrays   map[string]array // arrays not read yet
	brief    bool             // see [begin]
	err      error
}

func (in *input) note(err error) {
	if in.err == nil {
		in.err = err
	}
}

// decode decodes the JSON settings into the given struct.
func (in *input) decode(into any) { in.note(decode(in.settings, into)) }

// optional returns the array called name and its shape, or nil if it is absent. In the
// expected shape, -1 stands for any length.
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

// bytes returns the array of bytes called name, or nil if it is absent.
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

// data returns the rows of the array x and their weights from the array weights (absent: all 1).
func (in *input) data() scqm.Data {
	x, shape := in.numbers("x", -1, -1)
	weights, _ := in.optional("weights", shape[0])
	return scqm.Data{N: shape[0], D: shape[1], X: x, Weights: weights}
}

// array describes a NumPy array: its address, the bytes of a number, and its shape.
type array []int

// arrayHead is the number of integers before the shape in an array.
const arrayHead = 2

// shape returns the shape of the array, or an empty slice if there is none.
func (a array) shape() []int { return a[min(arrayHead, len(a)):] }

// decode decodes JSON settings. An unknown name is an error.
func decode(text string, into any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("settings: %w: %w", err, framework.ErrInvalid)
	}
	return nil
}

// encode returns a report as JSON.
func encode(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}
