package bindings

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/scqm/scqm/framework"
)

// wordSize is the number of bytes of a float64 and of an address.
const wordSize = 8

// view returns the memory at an address as a slice of n numbers. The address is ignored
// if n is 0.
func view(what string, address uint64, n int) ([]float64, error) {
	return viewOf[float64](what, address, n)
}

// viewOf is like view for other number types; byte is the smallest.
func viewOf[T byte | float32 | float64 | uint64](what string, address uint64, n int) ([]T, error) {
	var one T
	if err := checkAddress(what, address, n, int(unsafe.Sizeof(one))); err != nil || n == 0 {
		return nil, err
	}
	return unsafe.Slice((*T)(pointer(address)), n), nil
}

// optionalView is like view, but returns nil for address 0.
func optionalView(what string, address uint64, n int) ([]float64, error) {
	if address == 0 {
		return nil, nil
	}
	return view(what, address, n)
}

// singleSize is the number of bytes of a float32.
const singleSize = 4

// elements returns the numbers of an array as a slice that shares its memory.
func elements[T byte | float32 | float64 | uint64](what string, a array) ([]T, error) {
	var one T
	if size := int(unsafe.Sizeof(one)); len(a) < arrayHead || a[1] != size {
		return nil, fmt.Errorf("%s: %v are no numbers of %d bytes: %w", what, a, size, framework.ErrInvalid)
	}
	n, err := product(what, a.shape()...)
	if err != nil {
		return nil, err
	}
	return viewOf[T](what, uint64(a[0]), n)
}

func checkAddress(what string, address uint64, n, size int) error {
	switch {
	case n < 0 || n > math.MaxInt/wordSize:
		return fmt.Errorf("%s: %d numbers: %w", what, n, framework.ErrInvalid)
	case n > 0 && address == 0:
		return fmt.Errorf("%s: no address: %w", what, framework.ErrInvalid)
	case n > 0 && address%uint64(size) != 0:
		return fmt.Errorf("%s: address is not a multiple of %d: %w", what, size, framework.ErrInvalid)
	}
	return nil
}

// pointer converts an address from Python to a pointer. The garbage collector ignores
// it because Go does not own the memory.
func pointer(address uint64) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// product returns the product of the lengths. It returns an error if a length is invalid or the product overflows.
func product(what string, lengths ...int) (int, error) {
	n := 1
	for _, l := range lengths {
		if l < 0 || l > 0 && n > math.MaxInt/wordSize/l {
			return 0, fmt.Errorf("%s: shape %v: %w", what, lengths, framework.ErrInvalid)
		}
		n *= l
	}
	return n, nil
}

// deliver copies numbers to an address. It does nothing if the address is 0.
func deliver(what string, address uint64, from []float64) error {
	to, err := optionalView(what, address, len(from))
	copy(to, from)
	return err
}

// fill sets all entries of dst to v.
func fill(dst []float64, v float64) {
	for i := range dst {
		dst[i] = v
	}
}
