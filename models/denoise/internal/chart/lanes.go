package chart

import "math"

//go:generate sh -c "go run ../../../../internal/dense/assembly charts > lanes_amd64.s"

// lanes is the number of rows that kernels of charts in space process at a time. Rows beyond the last have weight
// zero. Sums are accumulated for every lane, then over the lanes, in a fixed order, so that results are bit-identical
// to plain Go on any processor.
const lanes = 8

// upToLanes rounds k up to a multiple of lanes.
func upToLanes(k int) int { return (k + lanes - 1) / lanes * lanes }

// The columns of the rows of a chart in space: weights before and after reweighting, tangential coordinates, and
// heights; then the weights after reweighting of a crease, and the squared distances from it.
const (
	spaceWeight = iota
	spaceUsed
	spaceP
	spaceQ
	spaceZ
	spaceCreased
	spaceSquare
	spaceColumns
)

// spaceLanes holds the arguments of kernels: three columns of the rows, x, stride apart; the columns of a chart;
// constants; and the sums.
type spaceLanes struct {
	wide    bool // whether assembly kernels are used
	groups  int
	table   [19]float64
	x       []float64
	xStride int
	own     []float64
	stride  int
	sums    *laneSums
	totals  [spaceSums]float64 // of all lanes
}

const spaceSums = 22

// laneSums are sums by lane. They are a separate allocation, which Go aligns with cache lines: kernels that spill
// sums take a third more time if a vector of them crosses two lines.
type laneSums [spaceSums * lanes]float64

// kernel is a function in assembly.
type kernel func(table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)

// run calls a kernel, or plain if there is no kernel. Both write the given number of sums.
func (l *spaceLanes) run(wide kernel, plain func(*spaceLanes), sums int) {
	if l.sums == nil {
		l.sums = new(laneSums)
	}
	clear(l.sums[:sums*lanes])
	switch {
	case l.groups == 0:
	case l.wide && wide != nil:
		wide(&l.table[0], &l.x[0], l.xStride, &l.own[0], l.stride, l.groups, &l.sums[0])
	default:
		plain(l)
	}
	for i := range l.totals[:sums] {
		s := (*[lanes]float64)(l.sums[i*lanes:])
		l.totals[i] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
	}
}

// sum returns the sum over all lanes.
func (l *spaceLanes) sum(i int) float64 { return l.totals[i] }

// column returns column i of the chart.
func (l *spaceLanes) column(i int) []float64 { return l.own[i*l.stride : i*l.stride+l.groups*lanes] }

// three returns the three columns of the rows.
func (l *spaceLanes) three() (a, b, c []float64) {
	n := l.groups * lanes
	return l.x[:n], l.x[l.xStride : l.xStride+n], l.x[2*l.xStride : 2*l.xStride+n]
}

// weigh computes two weights from squared distances, priors and trust: the prior times the tricube of the distance in
// units of next, and that times trust. It returns the sums of both.
func (l *spaceLanes) weigh(next float64) (all, used float64) {
	l.table[0], l.table[1], l.table[2] = next, 1, 0
	l.run(weighRows, (*spaceLanes).weighPlain, 2)
	return l.sum(0), l.sum(1)
}

func (l *spaceLanes) weighPlain() {
	far, prior, trust := l.three()
	weight, used := l.column(spaceWeight), l.column(spaceUsed)
	for i := range weight {
		cube := 0.0
		if t := math.Sqrt(far[i]) / l.table[0]; t < 1 {
			v := 1 - float64(t*t*t)
			cube = float64(v * v * v)
		}
		weight[i] = float64(prior[i] * cube)
		used[i] = float64(weight[i] * trust[i])
		l.sums[i%lanes] += weight[i]
		l.sums[lanes+i%lanes] += used[i]
	}
}

// plane stores in the sums, for d the rows minus o: the weights w, w d and, row by row, the upper triangle of w d d'.
func (l *spaceLanes) plane(o [3]float64) {
	copy(l.table[:], o[:])
	l.run(addPlane, (*spaceLanes).planePlain, 10)
}

func (l *spaceLanes) planePlain() {
	x, y, z := l.three()
	for i, w := range l.column(spaceWeight) {
		l.addPlane(i%lanes, w, [3]float64{x[i] - l.table[0], y[i] - l.table[1], z[i] - l.table[2]})
	}
}

// addPlane adds w, w d and w d d' of one row to the sums of a lane, starting at the given sum.
func (l *spaceLanes) addPlane(at int, w float64, d [3]float64) {
	l.sums[at] += w
	for j, v := range d {
		l.sums[(1+j)*lanes+at] += float64(w * v)
	}
	at += 4 * lanes
	for j, v := range d {
		for _, u := range d[j:] {
			l.sums[at] += float64(float64(w*v) * u)
			at += lanes
		}
	}
}

// creaseTable is the input of assignCrease: two half planes by their normals, and the heights of both over the
// origin.
type creaseTable struct {
	origin                   [3]float64
	normal                   [2][3]float64
	height                   [2]float64
	cosine, sine, cut, bound float64 // one over the square of the sine, and of the cut
}

// assign computes the squared distances of rows from the nearer of two half planes, and weights from these. It stores
// three groups of sums: those of addPlane with these weights over all rows, the same over the rows nearer to the
// second half plane, and the bounded squares with the original weights. The squared distance from a half plane is
// a^2, that from its plane. If the projection is not in the half plane it is the squared distance from the
// intersection, a^2 + (b - ca)^2/(1 - c^2), with b the height over the other plane.
func (l *spaceLanes) assign(t *creaseTable) {
	copy(l.table[:], t.origin[:])
	copy(l.table[3:], t.normal[0][:])
	copy(l.table[6:], t.normal[1][:])
	copy(l.table[9:], []float64{t.height[0], t.height[1], t.cosine, t.sine, t.cut, 1, 0, t.bound})
	l.run(assignCrease, (*spaceLanes).assignPlain, 21)
}

func (l *spaceLanes) assignPlain() {
	x, y, z := l.three()
	weight, used, squares, t := l.column(spaceWeight), l.column(spaceCreased), l.column(spaceSquare), &l.table
	for i, w := range weight {
		e := [3]float64{x[i] - t[0], y[i] - t[1], z[i] - t[2]}
		a, b := dotInSpace([3]float64(t[3:]), e)-t[9], dotInSpace([3]float64(t[6:]), e)-t[10]
		u, v := positive(b-float64(t[11]*a)), positive(a-float64(t[11]*b))
		nearA, nearB := float64(a*a)+float64(t[12]*float64(u*u)), float64(b*b)+float64(t[12]*float64(v*v))
		square, second := nearA, 0.0
		if nearA > nearB {
			square = nearB
		}
		left := positive(1 - float64(square*t[13]))
		squares[i], used[i] = square, float64(w*float64(left*left))
		if nearA > nearB {
			second = used[i]
		}
		bounded := t[16]
		if bounded > square {
			bounded = square
		}
		l.sums[20*lanes+i%lanes] += float64(w * bounded)
		l.addPlane(i%lanes, used[i], e)
		l.addPlane(10*lanes+i%lanes, second, e)
	}
}

// positive returns max(v, 0).
func positive(v float64) float64 {
	if v > 0 {
		return v
	}
	return 0
}

// turn converts rows to coordinates along three axes at o: tangential coordinates and heights, in units of h. It adds
// up moments.
func (l *spaceLanes) turn(o [3]float64, h float64, u, v, n [3]float64) {
	copy(l.table[:], o[:])
	l.table[3] = 1 / h
	copy(l.table[4:], u[:])
	copy(l.table[7:], v[:])
	copy(l.table[10:], n[:])
	l.run(turnChart, (*spaceLanes).turnPlain, 21)
}

func (l *spaceLanes) turnPlain() {
	x, y, z := l.three()
	used, p, q, height := l.column(spaceUsed), l.column(spaceP), l.column(spaceQ), l.column(spaceZ)
	t := &l.table
	for i := range p {
		e0, e1, e2 := (x[i]-t[0])*t[3], (y[i]-t[1])*t[3], (z[i]-t[2])*t[3]
		p[i] = float64(t[4]*e0) + float64(t[5]*e1) + float64(t[6]*e2)
		q[i] = float64(t[7]*e0) + float64(t[8]*e1) + float64(t[9]*e2)
		height[i] = float64(t[10]*e0) + float64(t[11]*e1) + float64(t[12]*e2)
		l.addMoments(i%lanes, p[i], q[i], height[i], used[i])
	}
}

// reweigh computes Tukey's weights of the residuals from the heights of a polynomial, with cut in units of h, and
// adds up moments. It returns the sums of the weights before and after.
func (l *spaceLanes) reweigh(b *[spaceTerms]float64, cut float64) (all, left float64) {
	l.toLoss(b, cut)
	l.run(reweighChart, (*spaceLanes).reweighPlain, 22)
	return l.sum(21), l.sum(0)
}

// reweighRows computes the same weights as reweigh, but does not add up moments.
func (l *spaceLanes) reweighRows(b *[spaceTerms]float64, cut float64) (all, left float64) {
	l.toLoss(b, cut)
	l.run(reweighRows, (*spaceLanes).reweighRowsPlain, 2)
	return l.sum(1), l.sum(0)
}

func (l *spaceLanes) toLoss(b *[spaceTerms]float64, cut float64) {
	copy(l.table[:], b[:])
	l.table[6], l.table[7], l.table[8] = 1/(cut*cut), 1, 0
}

func (l *spaceLanes) reweighRowsPlain() {
	weight, used := l.column(spaceWeight), l.column(spaceUsed)
	p, q, z := l.column(spaceP), l.column(spaceQ), l.column(spaceZ)
	for i, w := range weight {
		r := z[i] - l.polynomial(p[i], q[i])
		used[i] = float64(w * Tukey(float64(float64(r*r)*l.table[6])))
		l.sums[i%lanes] += used[i]
		l.sums[lanes+i%lanes] += w
	}
}

func (l *spaceLanes) reweighPlain() {
	weight, used := l.column(spaceWeight), l.column(spaceUsed)
	p, q, z := l.column(spaceP), l.column(spaceQ), l.column(spaceZ)
	for i, w := range weight {
		r := z[i] - l.polynomial(p[i], q[i])
		used[i] = float64(w * Tukey(float64(float64(r*r)*l.table[6])))
		l.sums[21*lanes+i%lanes] += w
		l.addMoments(i%lanes, p[i], q[i], z[i], used[i])
	}
}

// polynomial evaluates at (p, q) the polynomial with the first numbers of the table as coefficients.
func (l *spaceLanes) polynomial(p, q float64) float64 {
	b := l.table[:spaceTerms]
	first := b[1] + float64(p*b[3]) + float64(q*b[4])
	second := b[2] + float64(q*b[5])
	return b[0] + float64(p*first) + float64(q*second)
}

// addMoments adds the moments of one row in its lane: of degree up to 4, by degree and then the power of q, and of
// height.
func (l *spaceLanes) addMoments(lane int, p, q, z, w float64) {
	pp, pq, qq := float64(p*p), float64(p*q), float64(q*q)
	wp, wq := float64(w*p), float64(w*q)
	wpp, wpq, wqq := float64(w*pp), float64(w*pq), float64(w*qq)
	at := lane
	for _, v := range [...]float64{
		w, wp, wq, wpp, wpq, wqq,
		float64(wpp * p), float64(wpp * q), float64(wqq * p), float64(wqq * q),
		float64(wpp * pp), float64(wpp * pq), float64(wpp * qq), float64(wqq * pq), float64(wqq * qq),
		float64(w * z), float64(wp * z), float64(wq * z), float64(wpp * z), float64(wpq * z), float64(wqq * z),
	} {
		l.sums[at] += v
		at += lanes
	}
}

// leverage returns the sum over rows of the square of the weight times the polynomial s.
func (l *spaceLanes) leverage(s *[spaceTerms]float64) float64 {
	copy(l.table[:], s[:])
	l.run(nil, (*spaceLanes).leveragePlain, 1)
	return l.sum(0)
}

func (l *spaceLanes) leveragePlain() {
	p, q := l.column(spaceP), l.column(spaceQ)
	for i, w := range l.column(spaceUsed) {
		v := float64(w * l.polynomial(p[i], q[i]))
		l.sums[i%lanes] += float64(v * v)
	}
}

// bothSides has constants of splitChart: the bounds of the hyperbolic tangent, its values beyond, and the
// coefficients of [hyperbolicTangent].
var bothSides = [...]float64{tangentBound, -tangentBound, 1, -1, 135135, 17325, 378, 62370, 3150, 28, .5}

// splitSides changes heights of rows on two parallel charts, at the distance half on either side of the chart with
// coefficients b, to heights over b. It subtracts half times the expected side e of the row, given the noise
// variance. It returns the sums of w r e, of w and of w^2, with r the height over b.
func (l *spaceLanes) splitSides(b *[spaceTerms]float64, heights []float64, half, variance float64) (first, total, square float64) {
	l.toSides(b, heights, half, variance)
	l.run(splitChart, (*spaceLanes).splitPlain, 3)
	return l.sum(0), l.sum(1), l.sum(2)
}

func (l *spaceLanes) toSides(b *[spaceTerms]float64, heights []float64, half, variance float64) {
	copy(l.table[:], b[:])
	l.table[6], l.table[7] = half, variance
	copy(l.table[8:], bothSides[:])
	l.x, l.xStride = heights, 0
}

func (l *spaceLanes) splitPlain() {
	p, q, used, z := l.column(spaceP), l.column(spaceQ), l.column(spaceUsed), l.column(spaceZ)
	half, variance := l.table[6], l.table[7]
	for i, w := range used {
		r := l.x[i] - l.polynomial(p[i], q[i])
		e := hyperbolicTangent(float64(half*r) / variance)
		z[i] = l.x[i] - float64(half*e)
		l.sums[i%lanes] += float64(float64(w*r) * e)
		l.sums[lanes+i%lanes] += w
		l.sums[2*lanes+i%lanes] += float64(w * w)
	}
}

// weighSide multiplies the weight of each row by the probability that it is on the given side.
func (l *spaceLanes) weighSide(b *[spaceTerms]float64, heights []float64, side, variance float64) {
	l.toSides(b, heights, side, variance)
	l.run(nil, (*spaceLanes).weighSidePlain, 0)
}

func (l *spaceLanes) weighSidePlain() {
	p, q, used := l.column(spaceP), l.column(spaceQ), l.column(spaceUsed)
	for i, w := range used {
		r := l.x[i] - l.polynomial(p[i], q[i])
		used[i] = float64(w * float64(.5*(1+hyperbolicTangent(float64(l.table[6]*r)/l.table[7]))))
	}
}

// spread returns the sums of w r^2/(1 + s^2), of w and of its square, r being the height over the chart of the coefficients b and s its slope.
func (l *spaceLanes) spread(b *[spaceTerms]float64) (rest, total, square float64) {
	copy(l.table[:], b[:])
	l.table[6], l.table[7] = 2, 1
	l.run(nil, (*spaceLanes).spreadPlain, 3)
	return l.sum(0), l.sum(1), l.sum(2)
}

func (l *spaceLanes) spreadPlain() {
	p, q, z, b := l.column(spaceP), l.column(spaceQ), l.column(spaceZ), l.table[:spaceTerms]
	for i, w := range l.column(spaceUsed) {
		r := z[i] - l.polynomial(p[i], q[i])
		byP := b[1] + float64(float64(2*p[i])*b[3]) + float64(q[i]*b[4])
		byQ := b[2] + float64(float64(2*q[i])*b[5]) + float64(p[i]*b[4])
		l.sums[i%lanes] += float64(float64(w*r)*r) / (1 + float64(byP*byP) + float64(byQ*byQ))
		l.sums[lanes+i%lanes] += w
		l.sums[2*lanes+i%lanes] += float64(w * w)
	}
}
