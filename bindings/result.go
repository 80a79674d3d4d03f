package bindings

import (
	"fmt"

	"github.com/scqm/scqm/framework"
)

// Report returns the result of a job as a JSON object. report is the report that the act defines. lengths maps the name
// of each array for [Fetch] to its length; the name "bytes" stands for an array of bytes.
func Report(number int64) (string, error) {
	return onOutcome("report", number, func(o *outcome) (string, error) {
		lengths := map[string]int{}
		for name, a := range o.arrays {
			lengths[name] = len(a)
		}
		if o.bytes != nil {
			lengths["bytes"] = len(o.bytes)
		}
		return encode(struct {
			Report  any            `json:"report"`
			Lengths map[string]int `json:"lengths"`
		}{o.report, lengths})
	})
}

// Fetch copies arrays of a job's result to destinations, which have the format of the
// arrays of [Start]. It returns 1.
func Fetch(number int64, destinations string) (int64, error) {
	return onOutcome("fetch", number, func(o *outcome) (int64, error) {
		var places map[string]array
		if err := decode(destinations, &places); err != nil {
			return 0, err
		}
		for name, place := range places {
			var err error
			if name == "bytes" {
				err = copyTo(name, place, o.bytes)
			} else {
				err = copyTo(name, place, o.arrays[name])
			}
			if err != nil {
				return 0, err
			}
		}
		return 1, nil
	})
}

// copyTo copies from to an array of the same length.
func copyTo[T byte | float64](name string, to array, from []T) error {
	dst, err := elements[T](name, to)
	if err == nil && len(dst) != len(from) {
		err = fmt.Errorf("%s: %d numbers, not %d: %w", name, len(from), len(dst), framework.ErrInvalid)
	}
	copy(dst, from)
	return err
}
