package dataset

// values collects numbers one by one. Memory that is not there is refused before
// it is set aside: growing a slice would take three times as much as it holds.
type values struct {
	name  string // of the file
	full  [][]float64
	last  []float64
	count int // in full
}

const (
	firstValues = 1 << 13
	maxValues   = 1 << 22
)

// newValues makes room for so many values, a bound, or for an unknown number if
// that is negative.
func newValues(name string, expected float64) (*values, error) {
	v := &values{name: name}
	if expected < 0 {
		return v, nil
	}
	if err := checkMemory(name+": its numbers", valueBytes*expected); err != nil {
		return nil, err
	}
	v.last = make([]float64, 0, int(expected))
	return v, nil
}

func (v *values) add(x float64) error {
	if len(v.last) == cap(v.last) {
		if err := v.grow(); err != nil {
			return err
		}
	}
	v.last = append(v.last, x)
	return nil
}

// grow begins another part, if there is room for it and for all parts in one.
func (v *values) grow() error {
	v.count += len(v.last)
	length := min(max(v.count, firstValues), maxValues)
	err := checkMemory(v.name+": its numbers", valueBytes*float64(2*length+v.count))
	if err != nil {
		return err
	}
	v.full, v.last = append(v.full, v.last), make([]float64, 0, length)
	return nil
}

// all returns the values in one slice.
func (v *values) all() []float64 {
	if v.count == 0 {
		return v.last
	}
	out := make([]float64, 0, v.count+len(v.last))
	for k, part := range v.full {
		out = append(out, part...)
		v.full[k] = nil
	}
	return append(out, v.last...)
}
