package scqm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
	"github.com/scqm/scqm/solvers"
)

// shapes of hostile data: what the rows would be without what is done to them next.
var hostileShapes = []struct {
	name string
	fill func(rng *rand.Rand, x Data)
}{
	{"gaussian", func(rng *rand.Rand, x Data) {
		for i := range x.X {
			x.X[i] = rng.NormFloat64()
		}
	}},
	{"sheet", func(rng *rand.Rand, x Data) {
		noise := math.Pow(10, -4*rng.Float64())
		bend := 2 * rng.NormFloat64()
		for i := range x.N {
			row := x.Row(i)
			t, u := 2*rng.Float64()-1, 2*rng.Float64()-1
			for j := range row {
				row[j] = []float64{t, bend * t * t, u, t * u, bend * u * u}[j%5] + noise*rng.NormFloat64()
			}
		}
	}},
	{"exact sheet", func(rng *rand.Rand, x Data) {
		for i := range x.N {
			t := 2*rng.Float64() - 1
			for j := range x.D {
				x.Row(i)[j] = []float64{t, t * t, 2 * t, 1, -t}[j%5]
			}
		}
	}},
	{"arc", func(rng *rand.Rand, x Data) {
		reach := 2 * math.Pi * rng.Float64()
		for i := range x.N {
			a := reach * rng.Float64()
			for j := range x.D {
				x.Row(i)[j] = []float64{math.Cos(a), math.Sin(a), a}[j%3] + 0.05*rng.NormFloat64()
			}
		}
	}},
	{"line", func(rng *rand.Rand, x Data) {
		for i := range x.N {
			t := rng.NormFloat64()
			for j := range x.D {
				x.Row(i)[j] = t * float64(j+1)
			}
		}
	}},
	{"low rank", func(rng *rand.Rand, x Data) {
		axes := gaussians(rng.Uint64(), 2*x.D)
		for i := range x.N {
			a, b := rng.NormFloat64(), rng.NormFloat64()
			for j := range x.D {
				x.Row(i)[j] = a*axes[j] + b*axes[x.D+j]
			}
		}
	}},
	{"grid", func(rng *rand.Rand, x Data) {
		for i := range x.X {
			x.X[i] = float64(rng.IntN(3))
		}
	}},
	{"binary", func(rng *rand.Rand, x Data) {
		for i := range x.X {
			x.X[i] = float64(rng.IntN(2))
		}
	}},
	{"counts", func(rng *rand.Rand, x Data) {
		for i := range x.X {
			x.X[i] = math.Floor(math.Exp(3 * rng.NormFloat64()))
		}
	}},
	{"clusters", func(rng *rand.Rand, x Data) {
		apart := math.Pow(10, 8*rng.Float64())
		for i := range x.N {
			k := rng.IntN(3)
			for j := range x.D {
				x.Row(i)[j] = apart*math.Sin(float64(7*k+j)) + rng.NormFloat64()
			}
		}
	}},
	{"heavy tails", func(rng *rand.Rand, x Data) {
		for i := range x.X {
			x.X[i] = rng.NormFloat64() / math.Pow(rng.Float64(), 2)
		}
	}},
	{"simplex", func(_ *rand.Rand, x Data) {
		for i := range x.N {
			x.Row(i)[i%x.D] = 1
		}
	}},
	{"constant", func(_ *rand.Rand, x Data) {
		for i := range x.X {
			x.X[i] = 0.1
		}
	}},
}

// hostileDeeds are what is done to the rows.
var hostileDeeds = []struct {
	name string
	do   func(rng *rand.Rand, x Data)
}{
	{"one row far away", func(rng *rand.Rand, x Data) { floats.Scale(math.Pow(10, 15*rng.Float64()), x.Row(rng.IntN(x.N))) }},
	{"entries far away", func(rng *rand.Rand, x Data) {
		for range 1 + x.N/10 {
			x.X[rng.IntN(len(x.X))] *= math.Pow(10, 6*rng.Float64())
		}
	}},
	{"duplicate rows", func(rng *rand.Rand, x Data) {
		for range x.N / 2 {
			copy(x.Row(rng.IntN(x.N)), x.Row(rng.IntN(x.N)))
		}
	}},
	{"nearly duplicate rows", func(rng *rand.Rand, x Data) {
		for range x.N / 2 {
			to := x.Row(rng.IntN(x.N))
			copy(to, x.Row(rng.IntN(x.N)))
			to[0] = math.Nextafter(to[0], math.Inf(1))
		}
	}},
	{"constant column", func(rng *rand.Rand, x Data) { fillColumn(x, rng.IntN(x.D), func(int) float64 { return 3.7 }) }},
	{"equal columns", func(_ *rand.Rand, x Data) { fillColumn(x, x.D-1, func(i int) float64 { return x.Row(i)[0] }) }},
	{"zero rows", func(rng *rand.Rand, x Data) {
		for range 1 + x.N/3 {
			clear(x.Row(rng.IntN(x.N)))
		}
	}},
	{"offset", func(rng *rand.Rand, x Data) { shift(x, math.Pow(10, 14*rng.Float64())) }},
	{"unlike units", func(rng *rand.Rand, x Data) {
		for j := range x.D {
			by := math.Pow(10, 16*rng.Float64()-8)
			fillColumn(x, j, func(i int) float64 { return by * x.Row(i)[j] })
		}
	}},
	{"rounded", func(rng *rand.Rand, x Data) {
		step := math.Pow(10, -3*rng.Float64())
		for i, v := range x.X {
			x.X[i] = step * math.Round(v/step)
		}
	}},
	{"scale", func(rng *rand.Rand, x Data) { multiply(x, math.Pow(10, 20*rng.Float64()-10)) }},
	{"far scale", func(rng *rand.Rand, x Data) { multiply(x, math.Pow(10, 560*rng.Float64()-280)) }},
	{"denormals", func(rng *rand.Rand, x Data) { multiply(x, math.SmallestNonzeroFloat64*math.Pow(10, 6*rng.Float64())) }},
	{"a denormal entry", func(rng *rand.Rand, x Data) { x.X[rng.IntN(len(x.X))] = math.SmallestNonzeroFloat64 }},
	{"one huge row", func(rng *rand.Rand, x Data) { floats.Scale(1e150, x.Row(rng.IntN(x.N))) }},
	{"sorted columns", func(_ *rand.Rand, x Data) {
		for j := range x.D {
			column := make([]float64, x.N)
			for i := range column {
				column[i] = x.Row(i)[j]
			}
			slices.Sort(column)
			fillColumn(x, j, func(i int) float64 { return column[i] })
		}
	}},
}

func fillColumn(x Data, j int, value func(i int) float64) {
	for i := range x.N {
		x.Row(i)[j] = value(i)
	}
}

func shift(x Data, by float64) {
	for i := range x.X {
		x.X[i] += by
	}
}

// multiply keeps within what float64 holds.
func multiply(x Data, by float64) {
	for i, v := range x.X {
		x.X[i] = max(-math.MaxFloat64/4, min(math.MaxFloat64/4, v*by))
	}
}

// hostileCase draws data, and a fit of them.
func hostileCase(c drill.Case) (x Data, config Config, label string, err error) {
	x = Data{N: 1 + c.IntN(10), D: 1 + c.IntN(6)}
	if c.IntN(4) > 0 {
		x.N = 5 + c.IntN(40)
	}
	x.X = make([]float64, x.N*x.D)
	shape := hostileShapes[c.IntN(len(hostileShapes))]
	shape.fill(c.Rand, x)
	names := []string{fmt.Sprintf("%d x %d", x.N, x.D), shape.name}
	for range c.IntN(4) {
		deed := hostileDeeds[c.IntN(len(hostileDeeds))]
		deed.do(c.Rand, x)
		names = append(names, deed.name)
	}
	if c.IntN(6) == 0 {
		x.Weights = make([]float64, x.N)
		for i := range x.Weights {
			x.Weights[i] = float64(c.IntN(4)) * math.Pow(10, float64(3*c.IntN(3)-3))
		}
		x.Weights[0] = 1
		names = append(names, "weights")
	}
	config, err = hostileConfig(c, x)
	if config.IgnoreMissing {
		for i := range x.X {
			if c.IntN(5) == 0 && i/x.D != i%x.D && i%x.D != i/x.D%x.D {
				x.X[i] = math.NaN()
			}
		}
	}
	solver := "auto"
	if config.Solver != nil {
		solver = config.Solver.Name()
	}
	names = append(names, fmt.Sprintf("%s %v, d = %d, s = %d, ridge %v, %s, missing %v", config.Loss.Name(), params(config.Loss), config.Latent, config.Curvature, config.Ridge, solver, config.IgnoreMissing))
	return x, config, strings.Join(names, ", "), err
}

func params(l framework.Loss) map[string]float64 {
	if p, ok := l.(rowloss.Parametric); ok {
		return p.Params()
	}
	return nil
}

// hostileConfig draws a fit of any loss with any solver.
func hostileConfig(c drill.Case, x Data) (Config, error) {
	config := Config{Latent: 1 + c.IntN(min(3, x.D)), Threads: 1, Seed: c.Uint64()}
	config.Curvature = c.IntN(4)
	config.Ridge = []float64{NoRidge, DefaultRidge, DefaultRidge, 0.1, 10}[c.IntN(5)]
	if c.IntN(10) == 0 {
		config.Inits = 2
	}
	config.Options.MaxIterations = 1500
	var err error
	switch c.IntN(10) {
	case 0:
		config.Loss = losses.L1()
	case 1, 2:
		config.Loss = losses.L2()
	case 3, 4:
		config.Loss = losses.SquaredL2()
	case 5:
		config.Loss, err = losses.Huber(math.Pow(10, 4*c.Float64()-3))
	case 6:
		config.Loss, err = losses.Lp([]float64{1, 1.25, 1.5}[c.IntN(3)])
	case 7:
		config.Loss, err = losses.Lp([]float64{2, 3, 4}[c.IntN(3)])
	case 8:
		m := mat.NewSymDense(x.D, nil)
		m.SymOuterK(1, mat.NewDense(x.D, x.D, gaussians(c.Uint64(), x.D*x.D)))
		for j := range x.D {
			m.SetSym(j, j, m.At(j, j)+0.1)
		}
		config.Loss, err = losses.Mahalanobis(m)
	default:
		config.Loss, config.IgnoreMissing = losses.SquaredL2(), true
		if c.IntN(2) == 0 {
			config.Loss, err = losses.Lp([]float64{1, 1.5, 3}[c.IntN(3)])
		}
	}
	if names := solvers.Describe(); err == nil && c.IntN(2) == 0 {
		config.Solver, err = solvers.ByName(names[c.IntN(len(names))].Name)
		config.Options.MaxIterations = 300
	}
	return config, err
}

// Whatever the data are, a fit ends with an error of a kind that callers know, or with
// a model whose objective is what it says and which is called converged only where its
// first-order system, computed anew with 320 bits, is stationary to the tolerance.
func TestDrillHostile(t *testing.T) {
	counts := map[string]int{}
	drill.Run(t, "hostile", 60, func(c drill.Case) error {
		x, config, label, err := hostileCase(c)
		if err == nil {
			var status string
			status, err = tryHostile(x, config)
			counts[status]++
		}
		if err != nil {
			return fmt.Errorf("%s: %w", label, err)
		}
		return nil
	})
	t.Log(counts)
}

func tryHostile(x Data, config Config) (status string, err error) {
	before := slices.Clone(x.X)
	var states []*solvers.ContinuationState // of all starts
	config.Options.Observers = append(config.Options.Observers, func(p framework.Record) {
		if s, ok := p.State.(*solvers.ContinuationState); ok && !slices.Contains(states, s) {
			states = append(states, s)
		}
	})
	fit, err := Learn(context.Background(), x, config)
	if !slices.EqualFunc(before, x.X, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
		return "", errors.New("the data are changed")
	}
	if err != nil {
		if errors.Is(err, ErrInput) || errors.Is(err, framework.ErrNonFinite) && fit != nil {
			return "refused", nil
		}
		return "", fmt.Errorf("an error of no kind: %w", err)
	}
	m := fit.Model
	x.Missing = config.IgnoreMissing
	x = x.ObservedOnly()
	if err := checkAnswer(m, x); err != nil {
		return "", err
	}
	// Of numbers next to the smallest ones that float64 holds, digits are lost.
	if far := rows.WorkingUnit(x); far < 0x1p-900 || m.Meta.Penalty != 0 && m.Meta.Penalty < 0x1p-960 || m.Meta.Objective < 0x1p-960 && m.Meta.Objective > 0 {
		return "far " + m.Meta.Status, nil
	}
	return m.Meta.Status, checkVerdict(fit, x, config, states)
}

// checkAnswer looks at what does not take more digits.
func checkAnswer(m *Model, x Data) error {
	if err := m.Validate(); err != nil {
		return err
	}
	if _, err := json.Marshal(m.Meta); err != nil {
		return err
	}
	if m.Meta.Status == framework.Converged.String() && !(floats.Max(m.Meta.Stationarity) <= framework.DefaultTolerance) {
		return fmt.Errorf("converged with stationarities %v", m.Meta.Stationarity)
	}
	y, err := m.Project(context.Background(), x, 1)
	switch {
	case err != nil && !errors.Is(err, ErrInput):
		return fmt.Errorf("projection: %w", err)
	case err == nil && !(framework.Point{y}).Finite():
		return errors.New("projections are not finite")
	}
	return nil
}

// checkVerdict compares what a fit says with what is computed anew, of the model and
// of the point that its run ended at.
func checkVerdict(fit *Fit, x Data, config Config, states []*solvers.ContinuationState) error {
	m := fit.Model
	e := newExactFit(m, x)
	allowed := sum(e.allowed, times(sum(e.value, exactly(m.Meta.Penalty)), exactly(1e-10)))
	// The coordinates of a streamed model are not those of its run: they are found anew, from rotated axes. Where the run
	// has not converged, as on a sheet that bends ever more without a ridge, they can be in other valleys.
	streamed := len(fit.Run.Point) <= BlockTau
	if settled := !streamed || m.Meta.Status == framework.Converged.String(); settled && size(less(e.value, exactly(m.Meta.Objective))).Cmp(allowed) > 0 {
		return fmt.Errorf("objective %.17g, exactly %.17g, with rounding errors of %.3g", m.Meta.Objective, float(e.value), float(allowed))
	}
	if m.Meta.Status != framework.Converged.String() {
		return nil
	}
	var choices [][][]number
	if streamed {
		run, err := streamedRun(fit, x)
		if err != nil {
			return err
		}
		e = newExactFit(run, x)
		choices = placedSubgradients(run, x, config.Loss, states)
	} else {
		if rows.Repeats(x) {
			x = rows.Merge(x).Data
		}
		e = exactRun(fit, x)
	}
	choices = append(choices, e.subgradients(config.Loss, states)...)
	worst, blocks := e.stationarity(choices)
	bound := 1.01 * framework.DefaultTolerance
	if streamed && e.kinked() {
		// The coordinates for which the run is stationary are found anew, which in flat valleys gives others.
		bound = 1e-5
	}
	if !(worst <= bound) {
		return fmt.Errorf("called converged with stationarities %.3g, exactly %.3g with blocks %.3g, after %d iterations; %s", m.Meta.Stationarity, worst, blocks, m.Meta.Iterations, m.Meta.Message)
	}
	return nil
}

// subgradients are those by which a verdict on a loss with kinks can be judged: of the
// loss rounded over lengths that the run used, and the multipliers that it ended with.
func (e *exactFit) subgradients(loss framework.Loss, states []*solvers.ContinuationState) (choices [][][]number) {
	if !e.kinked() || e.interpolate {
		return nil
	}
	for _, s := range states {
		if s.Eps == 0 {
			continue
		}
		for _, by := range []float64{1, 10, 100} {
			choices = append(choices, e.rounded(loss, by*s.Eps))
		}
		dual := [][]float64{s.Multipliers}
		if s.Finish != nil {
			dual = append(dual, s.Finish.Multipliers, s.Finish.Dual)
		}
		for _, g := range dual {
			if len(g) > 0 {
				choices = append(choices, e.multipliers(g))
			}
		}
	}
	return choices
}

// streamedRun is the model at the point that a streamed run ended at, with coordinates for it.
func streamedRun(fit *Fit, x Data) (*Model, error) {
	run, at := *fit.Model, fit.Run.Point
	f := sheet.New(run.D, run.Latent, len(at[BlockQ])/run.D-run.Latent)
	f.Load(at[BlockC], at[BlockQ], at[BlockTheta])
	run.fromSheet(f)
	var err error
	run.Tau, err = run.Transform(context.Background(), x, 1)
	return &run, err
}

// placedSubgradients are those of the rounded loss where it is least for each row: a
// streamed run judges there, and the tau of its model are those of the loss itself.
func placedSubgradients(m *Model, x Data, loss framework.Loss, states []*solvers.ContinuationState) (choices [][][]number) {
	smoother, kinks := loss.(framework.Smoother)
	if !kinks || m.Meta.Missing != nil {
		return nil
	}
	for _, s := range states {
		if s.Eps == 0 {
			continue
		}
		placed := *m
		placed.Tau = slices.Clone(m.Tau)
		if placed.place(x, smoother.Smooth(s.Eps*rows.WorkingUnit(x))) == nil {
			e := newExactFit(&placed, x)
			choices = append(choices, e.rounded(loss, s.Eps))
			// place ends where the cost, in float64, no longer falls: rows far away are then some hundred roundings of
			// their coordinates from the minimum.
			for range 2 {
				e.settle(loss, s.Eps)
			}
			choices = append(choices, e.rounded(loss, s.Eps))
		}
	}
	return choices
}

// place moves tau to the minima of a smooth loss nearby.
func (m *Model) place(x Data, loss framework.Loss) error {
	o, err := objective.New(context.Background(), x, loss, m.Latent, m.Curvature, 1)
	if err != nil {
		return err
	}
	at := framework.Point{m.C, nil, m.Theta, nil}
	for k := range m.D {
		at[BlockQ] = append(append(at[BlockQ], m.U[k*m.Latent:(k+1)*m.Latent]...), m.V[k*m.Curvature:(k+1)*m.Curvature]...)
	}
	newton := nearest.NewGeneral(x.N, m.Latent)
	newton.Decrease = 1e-16
	_, err = newton.Minimize(m.Tau, func(to nearest.RowResults, tau []float64, list []int) error {
		at[BlockTau] = tau
		return o.EvaluateInto(to, at, BlockTau, list)
	})
	return err
}

// multipliers gives those of a run to the rows, from the span of the rows where the run
// was in that.
func (e *exactFit) multipliers(g []float64) [][]number {
	n, D := e.x.N, e.x.D
	if len(g) != n*D {
		span, _ := rows.NewSpan(e.x.InUnits(rows.WorkingUnit(e.x)))
		full := make([]float64, n*D)
		for i := range n {
			span.ExpandFrame(full[i*D:(i+1)*D], g[i*n:(i+1)*n], 1)
		}
		g = full
	}
	out := make([][]number, n)
	for i := range out {
		out[i] = zeros(D)
		for j := range out[i] {
			if e.there(i, j) {
				out[i][j] = exactly(g[i*D+j])
			}
		}
	}
	return out
}
