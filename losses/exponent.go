package losses

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
)

const (
	// maxQuarters is the largest exponent, in quarters, that is computed by roots and products; beyond it the general
	// kernel is as fast.
	maxQuarters = 4 * 8
	// maxTableExponent is the largest exponent of the table kernel. Its error
	// grows with the exponent: at 16 it stays below 1e-14.
	maxTableExponent = 16
)

// exponent computes powers a^q of many a >= 0 for one q >= 0, by the cheapest
// of three kernels: roots and products for a multiple of 1/4, a table of
// logarithms for other exponents up to 16, [math.Pow] beyond.
//
// The table kernel writes a = 2^k c (1+s) with c on a grid of 1/256, so that
// a^q = 2^(qk + q(log2 c + log2(1+s))) with short polynomials for log2(1+s)
// and for the fractional power of two. Only qk is large, and it is exact,
// because q is split into high + low with few enough bits in high. This is the
// scheme of P. T. P. Tang, Table-driven implementation of the logarithm
// function, ACM TOMS 16 (1990), without its last bits: the relative error is
// below 1e-14.
type exponent struct {
	q, high, low float64
	quarters     int
	kernel       kernel
	// The table kernel is good for a whose bits lie in [floor, ceiling].
	floor, ceiling int64
}

type kernel int

const (
	byRoots kernel = iota
	byTable
	byLibrary
)

// newExponent chooses the kernel for q, finite and at least 0.
func newExponent(q float64) exponent {
	high := math.Float64frombits(math.Float64bits(q) &^ (1<<32 - 1))
	e := exponent{q: q, high: high, low: q - high, kernel: byLibrary}
	switch quarters := 4 * q; {
	case quarters <= maxQuarters && quarters == math.Trunc(quarters):
		e.kernel, e.quarters = byRoots, int(quarters)
	case q <= maxTableExponent:
		e.kernel = byTable
		reach := math.Exp2(safeLog2 / q)
		e.floor = int64(math.Float64bits(max(1/reach, smallestNormal)))
		e.ceiling = int64(math.Float64bits(min(reach, math.MaxFloat64)))
	}
	return e
}

// raise writes a^q. The slices have the same length and are not the same.
func (e *exponent) raise(dst, a []float64) {
	switch e.kernel {
	case byRoots:
		e.raiseByRoots(dst, a)
	case byTable:
		e.raiseByTable(dst, a)
	default:
		for i, v := range a {
			dst[i] = math.Pow(v, e.q)
		}
	}
}

// one computes e.raise for a single number, bit-identically.
func (e *exponent) one(a float64) float64 {
	in, out := [1]float64{a}, [1]float64{}
	e.raise(out[:], in[:])
	return out[0]
}

func (e *exponent) raiseByRoots(dst, a []float64) {
	dst = dst[:len(a)]
	factors := e.quarters / 4
	switch e.quarters % 4 {
	case 0:
		if factors > 0 {
			copy(dst, a)
			factors--
			break
		}
		for i := range dst {
			dst[i] = 1
		}
	case 1:
		dense.Roots(dst, a)
		dense.Roots(dst, dst)
	case 2:
		dense.Roots(dst, a)
	case 3:
		var buffer [blockLength]float64
		for from := 0; from < len(a); from += blockLength {
			to := min(from+blockLength, len(a))
			root := buffer[:to-from]
			dense.Roots(root, a[from:to])
			dense.Roots(dst[from:to], root)
			dense.Products(dst[from:to], root, dst[from:to])
		}
	}
	for range factors {
		dense.Products(dst, dst, a)
	}
}

const (
	gridBits = 8
	grid     = 1 << gridBits
	mantissa = 52
	// gridOrigin is half a grid step below 1, so that 1 itself is a grid point
	// and its powers are exact.
	gridOrigin = 1023<<mantissa - 1<<(mantissa-gridBits-1)
	// toGrid rounds to a multiple of 1/grid when added and subtracted, and
	// leaves that multiple in the low bits of the sum.
	toGrid = 3 << (mantissa - gridBits - 1)

	smallestNormal = 0x1p-1022
	// safeLog2 bounds the base-2 logarithm of the powers that the table kernel
	// can compute without overflow and without subnormal numbers.
	safeLog2 = 1021
)

// Taylor coefficients of log2(1+s) and of 2^s - 1.
const (
	log1 = math.Log2E
	log2 = -math.Log2E / 2
	log3 = math.Log2E / 3
	log4 = -math.Log2E / 4
	log5 = math.Log2E / 5
	exp1 = math.Ln2
	exp2 = math.Ln2 * math.Ln2 / 2
	exp3 = math.Ln2 * math.Ln2 * math.Ln2 / 6
	exp4 = math.Ln2 * math.Ln2 * math.Ln2 * math.Ln2 / 24
)

// logGrid holds, for c = 1 + i/grid, 1/c and the logarithm of the c whose
// inverse that rounded number is. expGrid holds the bits of 2^(i/grid) less i
// in the leading bits of the mantissa, ready for adding a grid index.
var logGrid, expGrid = func() (logs [grid]struct{ inverse, log2 float64 }, exps [grid]uint64) {
	for i := range logs {
		c := 1 / (1 + float64(i)/grid)
		logs[i].inverse, logs[i].log2 = c, -math.Log2(c)
		exps[i] = math.Float64bits(math.Exp2(float64(i)/grid)) - uint64(i)<<(mantissa-gridBits)
	}
	return
}()

func (e *exponent) raiseByTable(dst, a []float64) {
	q, high, low, floor, ceiling := e.q, e.high, e.low, e.floor, e.ceiling
	dst = dst[:len(a)]
	var outside int64
	for i, v := range a {
		bits := int64(math.Float64bits(v))
		outside |= (bits - floor) | (ceiling - bits)
		offset := bits - gridOrigin
		k := float64(offset >> mantissa)
		c := &logGrid[offset>>(mantissa-gridBits)&(grid-1)]
		s := math.Float64frombits(uint64(bits-offset&^(1<<mantissa-1)))*c.inverse - 1
		whole := high * k
		s2 := s * s
		rest := q*((log1*s+c.log2)+s2*((log2+log3*s)+s2*(log4+log5*s))) + low*k
		rounded := whole + rest + toGrid
		index := math.Float64bits(rounded)
		f := (whole - (rounded - toGrid)) + rest
		power := math.Float64frombits(expGrid[index%grid] + index<<(mantissa-gridBits))
		dst[i] = power + (power*f)*((exp1+exp2*f)+(f*f)*(exp3+exp4*f))
	}
	if outside < 0 {
		e.repair(dst, a)
	}
}

// repair recomputes the entries outside the range of the table kernel. Subnormal numbers are scaled first, as
// [math.Pow] is wrong for them on amd64: in Go 1.26 math.Log(5e-324) is -709.
func (e *exponent) repair(dst, a []float64) {
	for i, v := range a {
		switch bits := int64(math.Float64bits(v)); {
		case bits >= e.floor && bits <= e.ceiling:
		case v > 0 && v < smallestNormal:
			dst[i] = e.one(v*0x1p64) * math.Exp2(-64*e.q)
		default:
			dst[i] = math.Pow(v, e.q)
		}
	}
}
