package core

import (
	"math/bits"
	"math/rand/v2"
)

// uint128 is hi 2^64 + lo; sums and products are modulo 2^128.
type uint128 struct{ hi, lo uint64 }

func (a uint128) plus(b uint128) uint128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return uint128{hi, lo}
}

func (a uint128) times(b uint128) uint128 {
	hi, lo := bits.Mul64(a.lo, b.lo)
	return uint128{hi + a.hi*b.lo + a.lo*b.hi, lo}
}

// The step of the generator PCG of math/rand/v2: state to multiplier state + increment.
var (
	pcgMultiplier = uint128{2549297995355413924, 4865540595714422341}
	pcgIncrement  = uint128{6364136223846793005, 1442695040888963407}
)

// PerturbationSeed fixes the signs: the same rows give the same result.
const PerturbationSeed = 20240229

// The streams of random numbers of rows: signs of probes, and the noise that is added to rows held out.
const (
	SignStream = 0
	HeldStream = 1
)

// StreamFrom returns the generator of a stream after so many numbers, in
// a time that grows with their logarithm: rows of a tile take theirs by number.
//
// Source: F. B. Brown, Random number generation with arbitrary strides, Trans. Am.
// Nucl. Soc. 71 (1994).
func StreamFrom(stream, skipped uint64) *rand.PCG {
	state := uint128{PerturbationSeed, stream}
	multiplier, increment := pcgMultiplier, pcgIncrement
	for ; skipped > 0; skipped >>= 1 {
		if skipped&1 == 1 {
			state = state.times(multiplier).plus(increment)
		}
		increment = multiplier.plus(uint128{0, 1}).times(increment)
		multiplier = multiplier.times(multiplier)
	}
	return rand.NewPCG(state.hi, state.lo)
}

// RandomSign is 1 or -1 by the first bit of a random number.
func RandomSign(v uint64) float64 { return float64(1 - 2*int(v>>63)) }
