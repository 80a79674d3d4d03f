package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// value is a flag that refuses, while the command line is read, what cannot be
// meant. Nothing is shown as the default of a zero target.
type value[T comparable] struct {
	target *T
	kind   string // the placeholder in help texts
	parse  func(string) (T, error)
}

// Set parses s into the target.
func (v value[T]) Set(s string) (err error) {
	*v.target, err = v.parse(s)
	return err
}

// String returns the current setting.
func (v value[T]) String() string {
	var zero T
	if v.target == nil || *v.target == zero {
		return ""
	}
	return fmt.Sprint(*v.target)
}

// Type returns the placeholder.
func (v value[T]) Type() string { return v.kind }

// naming is the name of a file or a directory.
func naming(target *string, kind string) value[string] {
	return value[string]{target, kind, func(s string) (string, error) {
		if s == "" {
			return "", errors.New("want a name")
		}
		return s, nil
	}}
}

// natural is a whole number of at least 0.
func natural(target *uint64) value[uint64] {
	return value[uint64]{target, "N", func(s string) (uint64, error) {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return 0, errors.New("want a whole number of at least 0")
		}
		return n, nil
	}}
}

// counting is a whole number of at least 1.
func counting(target *int) value[int] {
	return value[int]{target, "N", func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return 0, errors.New("want a whole number of at least 1")
		}
		return n, nil
	}}
}

// positive is a finite number above 0.
func positive(target *float64) value[float64] {
	return value[float64]{target, "X", func(s string) (float64, error) {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || !(x > 0) || math.IsInf(x, 0) {
			return 0, errors.New("want a number above 0")
		}
		return x, nil
	}}
}

// nonNegative is a finite number of at least 0.
func nonNegative(target *float64) value[float64] {
	return value[float64]{target, "X", func(s string) (float64, error) {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || !(x >= 0) || math.IsInf(x, 0) {
			return 0, errors.New("want a number of at least 0")
		}
		return x, nil
	}}
}

// lasting is a time above 0, as 1m30s or in seconds.
func lasting(target *time.Duration) value[time.Duration] {
	return value[time.Duration]{target, "TIME", func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err != nil {
			d, err = time.ParseDuration(s + "s")
		}
		if err != nil || d <= 0 {
			return 0, errors.New("want a time above 0, such as 1m30s, or a number of seconds")
		}
		return d, nil
	}}
}

// choice is one of a few words.
func choice(target *string, words ...string) value[string] {
	return value[string]{target, strings.Join(words, "|"), func(s string) (string, error) {
		if !slices.Contains(words, s) {
			return "", fmt.Errorf("want one of %s", strings.Join(words, ", "))
		}
		return s, nil
	}}
}
