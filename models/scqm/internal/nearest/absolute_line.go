package nearest

import "math"

// line is the sum of absolute residuals along a straight line t + s u, s > 0, where every
// entry is a quadratic in s: between the roots of these it is a quadratic itself.
type line struct {
	start  float64    // the sum at 0
	from   float64    // where the roots that are known begin
	smooth [3]float64 // of the sum between from and the first of these
	breaks []lineBreak
}

// lineBreak is a root at which the sum of the signed quadratics changes by jump.
type lineBreak struct {
	at    float64
	entry int
	jump  [3]float64
}

// begin starts with no entry.
func (l *line) begin() {
	l.start, l.from, l.smooth, l.breaks = 0, 0, [3]float64{}, l.breaks[:0]
}

// addRoots adds the roots of a quadratic, with the sign that it has at first, up to a
// place.
func (l *line) addRoots(entry int, sign float64, q [3]float64, to float64) {
	first, second := positiveRoots(sign*q[0], sign*q[1], sign*q[2])
	by := 2 * sign
	if first > l.from && first <= to {
		l.breaks = append(l.breaks, lineBreak{first, entry, [3]float64{-by * q[0], -by * q[1], -by * q[2]}})
	}
	if second > l.from && second <= to {
		l.breaks = append(l.breaks, lineBreak{second, entry, [3]float64{by * q[0], by * q[1], by * q[2]}})
	}
}

// positiveRoots returns the roots s > 0 of a + bs + cs^2 at which its sign changes, for
// a >= 0 and a quadratic that is not negative just after 0; 0 stands for none.
func positiveRoots(a, b, c float64) (first, second float64) {
	if b >= 0 && c >= 0 {
		return 0, 0
	}
	if c == 0 {
		return a / -b, 0
	}
	disc := b*b - 4*a*c
	if !(disc > 0) {
		return 0, 0
	}
	root := math.Sqrt(disc)
	if c < 0 { // one root is positive
		if b > 0 {
			return (b + root) / (-2 * c), 0
		}
		return 2 * a / (root - b), 0
	}
	return 2 * a / (root - b), (root - b) / (2 * c)
}

// falls reports whether the sum falls at first, where all roots are known.
func (l *line) falls() bool {
	return l.smooth[1] < 0 || l.smooth[1] == 0 && l.smooth[2] < 0
}

// minimum returns a minimum 0 < s <= limit of the sum that is lower than the sum at 0, and
// the entry that vanishes there or -1, given that it falls at from. It takes
// expected time proportional to the number of entries: roots are left out by the slope
// and the sum at one in their middle.
func (l *line) minimum(limit float64) (s float64, entry int) {
	sum, low, high, list := l.smooth, l.from, limit, l.breaks
	for len(list) > 0 {
		at := median(list)
		before, under := cross(sum, list, func(b float64) bool { return b < at })
		after, upto := cross(before, list[under:], func(b float64) bool { return b <= at })
		upto += under
		switch {
		case at > limit || before[0]+at*(before[1]+at*before[2]) > l.start:
			high, list = min(high, at), list[:under]
		case after[1]+2*after[2]*at < 0:
			sum, low, list = after, at, list[upto:]
		case before[1]+2*before[2]*at <= 0:
			return at, list[under].entry
		default:
			high, list = min(high, at), list[:under]
		}
	}
	if !(sum[2] > 0) {
		return high, -1
	}
	return min(max(-sum[1]/(2*sum[2]), low), high), -1
}

// cross brings the roots that are within to the front, and returns the sum beyond them
// and their number.
func cross(sum [3]float64, list []lineBreak, within func(at float64) bool) ([3]float64, int) {
	count := 0
	for i := range list {
		if !within(list[i].at) {
			continue
		}
		for k, v := range list[i].jump {
			sum[k] += v
		}
		list[i], list[count] = list[count], list[i]
		count++
	}
	return sum, count
}

// median returns the middle one of three roots.
func median(list []lineBreak) float64 {
	a, b, c := list[0].at, list[len(list)/2].at, list[len(list)-1].at
	return max(min(a, b), min(max(a, b), c))
}
