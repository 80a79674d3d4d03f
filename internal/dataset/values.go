package dataset

// values collects numbers one by one, in parts, and checks the available memory before it
// allocates one. Growing a slice instead would take three times the memory.
type values struct {
	name  string // of the file
	full  [][]float64
	last  []float64
	count int // numbers in full parts
}

const (
	firstValues = 1 << 13
	maxValues   = 1 << 22
)

// newValues allocates room for expected numbers, an upper bound. A negative number means
// unknown.
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

// grow allocates another part. It returns an error unless memory suffices for it and for a slice of all numbers.
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
