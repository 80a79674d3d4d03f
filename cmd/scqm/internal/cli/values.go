package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scqm/scqm/internal/memory"
)

// Value is a flag that rejects invalid values while the command line is parsed. Help
// texts show no default if the target is zero.
type Value[T comparable] struct {
	target *T
	kind   string // the placeholder in help texts
	parse  func(string) (T, error)
}

// Set parses s into the target.
func (v Value[T]) Set(s string) (err error) {
	*v.target, err = v.parse(s)
	return err
}

// String returns the current setting.
func (v Value[T]) String() string {
	var zero T
	if v.target == nil || *v.target == zero {
		return ""
	}
	return fmt.Sprint(*v.target)
}

// Type returns the placeholder of the flag in help texts.
func (v Value[T]) Type() string { return v.kind }

// Parsed returns a flag with the placeholder kind in help texts. parse returns an error
// for an invalid value.
func Parsed[T comparable](target *T, kind string, parse func(string) (T, error)) Value[T] {
	return Value[T]{target, kind, parse}
}

// Name returns a flag for the name of a file or a directory.
func Name(target *string, kind string) Value[string] {
	return Value[string]{target, kind, func(s string) (string, error) {
		if s == "" {
			return "", errors.New("want a name")
		}
		return s, nil
	}}
}

// Natural returns a flag for an integer of at least 0.
func Natural(target *uint64) Value[uint64] {
	return Value[uint64]{target, "N", func(s string) (uint64, error) {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return 0, errors.New("want a whole number of at least 0")
		}
		return n, nil
	}}
}

// Count returns a flag for an integer of at least 1.
func Count(target *int) Value[int] {
	return Value[int]{target, "N", func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return 0, errors.New("want a whole number of at least 1")
		}
		return n, nil
	}}
}

// Positive returns a flag for a finite number above 0.
func Positive(target *float64) Value[float64] {
	return Value[float64]{target, "X", func(s string) (float64, error) {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || !(x > 0) || math.IsInf(x, 0) {
			return 0, errors.New("want a number above 0")
		}
		return x, nil
	}}
}

// NonNegative returns a flag for a finite number of at least 0.
func NonNegative(target *float64) Value[float64] {
	return Value[float64]{target, "X", func(s string) (float64, error) {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || !(x >= 0) || math.IsInf(x, 0) {
			return 0, errors.New("want a number of at least 0")
		}
		return x, nil
	}}
}

// Ceiling returns a flag for the memory limit. Once the flag is parsed, work that needs
// more memory for data fails.
func Ceiling(target *int64) Value[int64] {
	return Value[int64]{target, "SIZE", func(s string) (int64, error) {
		n, err := memory.Parse(s)
		if err == nil {
			memory.SetCeiling(n, "--memory")
		}
		return n, err
	}}
}

// Duration returns a flag for a positive duration, given as in 1m30s or in seconds.
func Duration(target *time.Duration) Value[time.Duration] {
	return Value[time.Duration]{target, "TIME", func(s string) (time.Duration, error) {
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

// Choice returns a flag whose value must be one of words.
func Choice(target *string, words ...string) Value[string] {
	return OneOf(target, strings.Join(words, "|"), words...)
}

// OneOf returns a flag whose value must be one of names. Its placeholder in help texts is kind.
func OneOf(target *string, kind string, names ...string) Value[string] {
	return Value[string]{target, kind, func(s string) (string, error) {
		if !slices.Contains(names, s) {
			return "", fmt.Errorf("want one of %s", strings.Join(names, ", "))
		}
		return s, nil
	}}
}

// CountOr returns a flag for an integer of at least 1 or one of words.
func CountOr(target *string, words ...string) Value[string] {
	return orWord(target, "N", Count(new(int)).parse, words)
}

// PositiveOr returns a flag for a number above 0 or one of words.
func PositiveOr(target *string, words ...string) Value[string] {
	return orWord(target, "X", Positive(new(float64)).parse, words)
}

func orWord[T comparable](target *string, kind string, parse func(string) (T, error), words []string) Value[string] {
	return Value[string]{target, strings.Join(append([]string{kind}, words...), "|"), func(s string) (string, error) {
		if slices.Contains(words, s) {
			return s, nil
		}
		if _, err := parse(s); err != nil {
			return "", fmt.Errorf("%w or %s", err, strings.Join(words, " or "))
		}
		return s, nil
	}}
}
