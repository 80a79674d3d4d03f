package scqm

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/alternating"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
	"github.com/scqm/scqm/models/scqm/internal/streaming"
	"github.com/scqm/scqm/solvers"
)

// Online learns a model from a stream of rows, each read once. It averages the majorizers of sweeps over parts of the
// rows, in their order ([alternating.Average]). Rows are collected in blocks of [BlockRows], so that the result does
// not depend on their split into calls. An incomplete block only counts in [Online.Fit], with its share of a block.
// Rows should come in a random order, as the model follows the latest ones.
//
// The start is the model of the first block, by [LearnFrom]. Online supports losses with majorizers that can be
// averaged: l2, squared_l2, huber. It rejects other losses, because they need Newton steps, and averages of Newton
// models diverge. MarshalBinary stores the state. Use an Online from one goroutine.
type Online struct {
	config  Config
	s       onlineState
	problem *streaming.Problem // nil before the first block
	average *alternating.Average
}

// onlineState is the part of Online that MarshalBinary stores.
type onlineState struct {
	Loss                string // name and parameters of the loss
	D, Latent, S        int
	Unit, Lambda, Scale float64
	Seen, Draws         int
	Weight              float64 // of the rows in complete blocks
	Point               framework.Point
	Average             alternating.AverageState
	Rows, Weights       []float64 // of the incomplete block
	Prior               *prior
}

// prior is an earlier fit to continue from, before the first block.
type prior struct {
	Point  framework.Point
	Tau    []float64
	N      int
	Lambda float64
}

const (
	onlineDecay = 0.7
	// onlineSweeps bounds the reads of the first block. Later averages take short steps, and cannot make up for a
	// first fit that has not converged.
	onlineSweeps = 100
)

// NewOnline returns an Online without rows, for D columns. It uses Latent, Curvature, Linear, Ridge and Loss of the
// config.
func NewOnline(c Config, D int) (*Online, error) {
	c.Solver, c.Inits, c.Threads, c.Options = solvers.Streaming{}, 1, 1, framework.Options{MaxIterations: onlineSweeps}
	if err := c.checkStream(1, D); err != nil {
		return nil, err
	}
	if !alternating.CanSweep(c.Loss) {
		return nil, fmt.Errorf("scqm: the loss %s cannot be learned from rows as they come: its steps read rows again and again, and these are seen once; learn with l2, huber or squared_l2, or keep the rows in a file and fit them with the solver streaming: %w", c.Loss.Name(), ErrInput)
	}
	columns, _ := c.curvature(Data{N: math.MaxInt32, D: D})
	return &Online{config: c, s: onlineState{Loss: blocks.Identity(c.Loss), D: D, Latent: c.Latent, S: columns}}, nil
}

// GoOn continues from an earlier fit. The first sheet is that of the fit. If the model has the coordinates of its
// training rows, these count as seen. Call GoOn before the first rows are added.
func (o *Online) GoOn(m *Model) error {
	if m.D == o.s.D && m.Latent == o.s.Latent && len(m.Tau)%m.Latent == 0 {
		o.adopt(m.Curvature)
	}
	if o.s.Seen > 0 || m.D != o.s.D || m.Latent != o.s.Latent || m.Curvature != o.s.S || len(m.Tau)%m.Latent != 0 {
		return fmt.Errorf("scqm: cannot go on from a model with D = %d, d = %d, s = %d: %w", m.D, m.Latent, m.Curvature, ErrInput)
	}
	o.s.Prior = m.prior()
	o.s.Seen = max(o.s.Prior.N, m.Meta.N)
	return nil
}

// prior returns the model as an earlier fit to continue from.
func (m *Model) prior() *prior {
	f := m.sheet()
	return &prior{Point: pointOf(f, 0)[:BlockTau], Tau: slices.Clone(m.Tau), N: len(m.Tau) / m.Latent, Lambda: m.lambda()}
}

// adopt sets the number of directions of curvature to that of the earlier fit, if the number is estimated.
func (o *Online) adopt(s int) {
	if o.config.ruled() && o.s.Seen == 0 && s >= 0 && s <= o.config.room(o.s.D) {
		o.s.S = s
	}
}

// Seen returns the number of rows seen so far.
func (o *Online) Seen() int { return o.s.Seen }

// Learn adds rows. If it returns an error, because rows are not finite or the context is done, the state is
// unchanged.
func (o *Online) Learn(ctx context.Context, x Data) error {
	if x.D != o.s.D {
		return fmt.Errorf("scqm: rows of length %d after such of length %d: %w", x.D, o.s.D, ErrInput)
	}
	if err := x.Validate(); err != nil {
		return err
	}
	next, err := o.clone()
	if err != nil {
		return err
	}
	s := &next.s
	for from := 0; from < x.N; {
		take := min(x.N-from, BlockRows-len(s.Weights))
		s.Rows = append(s.Rows, x.X[from*x.D:(from+take)*x.D]...)
		for i := range take {
			s.Weights = append(s.Weights, x.Weight(from+i))
		}
		from += take
		if len(s.Weights) < BlockRows {
			break
		}
		if err := next.draw(ctx, 1); err != nil {
			return err
		}
		s.Rows, s.Weights = s.Rows[:0], s.Weights[:0]
	}
	s.Seen += x.N
	*o = *next
	return nil
}

// clone copies the mutable state.
func (o *Online) clone() (*Online, error) {
	c := &Online{config: o.config, s: o.s}
	c.s.Rows, c.s.Weights, c.s.Point = slices.Clone(o.s.Rows), slices.Clone(o.s.Weights), o.s.Point.Clone()
	if o.average != nil {
		c.s.Average = o.average.State()
	}
	return c, c.restore()
}

// restore rebuilds the problem and the average from the state.
func (o *Online) restore() error {
	s := &o.s
	if s.Draws == 0 {
		return nil
	}
	o.begin(context.Background(), Data{N: 1, D: s.D})
	o.average = o.problem.NewAverage(s.Point)
	if !o.average.Restore(s.Average) {
		return errOnline
	}
	return nil
}

var errOnline = fmt.Errorf("scqm: the state of a model that learns from rows as they come is damaged: %w", ErrInput)

// begin creates the problem for the rows x.
func (o *Online) begin(ctx context.Context, x Data) {
	s := &o.s
	o.problem = streaming.New(ctx, &LocalEngine{Source: x, Loss: o.config.Loss, Threads: 1}, o.config.Loss, s.Latent, s.S)
	o.problem.SetScales(streaming.Scales{Unit: s.Unit, Lambda: s.Lambda, Rounding: s.Scale})
}

// draw adds the rows of an incomplete block, weighted by its share of a full block.
func (o *Online) draw(ctx context.Context, share float64) error {
	s := &o.s
	x := Data{N: len(s.Weights), D: s.D, X: s.Rows, Weights: s.Weights}
	weight := x.TotalWeight()
	if !(weight > 0) {
		return nil
	}
	o.begin(ctx, x)
	rate := share * math.Pow(float64(s.Draws+2), -onlineDecay)
	if s.Draws == 0 {
		if err := o.first(ctx, x, weight); err != nil {
			return err
		}
		rate = share * math.Pow(float64(s.Draws+2), -onlineDecay)
		if s.Draws == 0 {
			rate = 1
		}
	}
	sums, err := o.problem.SumAll(s.Point)
	if err != nil {
		return err
	}
	o.average.Add(s.Point, sums, rate, 1/weight)
	s.Weight += weight
	next := framework.NewPoint(o.problem.Blocks())
	o.average.Minimize(next, objective.Regularizer{Lambda: s.Lambda / s.Weight})
	if !next.Finite() {
		return fmt.Errorf("scqm: %w", rows.ErrOverflow)
	}
	s.Point = next
	s.Draws++
	return nil
}

// first computes a start from the rows x, and the scales: the unit, the ridge and the smoothing length.
func (o *Online) first(ctx context.Context, x Data, weight float64) error {
	s := &o.s
	if s.Prior == nil {
		fit, err := LearnFrom(ctx, &LocalEngine{Source: x, Loss: o.config.Loss, Threads: 1}, o.config)
		if fit == nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		s.Prior, s.S = fit.Model.prior(), fit.Model.Curvature
		o.begin(ctx, x)
	}
	starts, err := o.problem.NewStarts()
	if err != nil {
		return err
	}
	starts.Begin(s.S, o.config.ridge(), nil)
	if _, err := starts.Point(); err != nil { // which sets the scales
		return err
	}
	found := o.problem.Scales()
	s.Point, s.Unit, s.Lambda, s.Scale = s.Prior.Point, found.Unit, found.Lambda, found.Rounding
	if s.Prior.Lambda > 0 {
		s.Lambda = s.Prior.Lambda
	}
	o.average = o.problem.NewAverage(s.Point)
	err = o.remember(ctx, weight)
	s.Prior = nil
	return err
}

// remember adds the training rows of an earlier fit as points of its sheet, with the average weight of the new
// rows.
func (o *Online) remember(ctx context.Context, weight float64) error {
	s := &o.s
	if s.Prior.N == 0 {
		return nil
	}
	now, err := o.problem.SumAll(s.Point)
	if err != nil {
		return err
	}
	m := &Model{D: s.D, Latent: s.Latent, Curvature: s.S}
	f := sheet.New(s.D, s.Latent, s.S)
	f.Load(s.Point[BlockC], s.Point[BlockQ], s.Point[BlockTheta])
	m.fromSheet(f)
	x, err := m.Reconstruct(ctx, s.Prior.Tau, 1)
	if err != nil {
		return err
	}
	n := s.Prior.N
	least := losses.SquaredL2()
	past := streaming.New(ctx, &LocalEngine{Source: Data{N: n, D: s.D, X: x}, Loss: least, Threads: 1}, least, s.Latent, s.S)
	past.SetScales(streaming.Scales{Unit: s.Unit})
	sums, err := past.SumAll(s.Point)
	if err != nil {
		return err
	}
	o.average.Add(s.Point, sums, 1, now[1]/weight/float64(n))
	s.Draws, s.Weight = Blocks(n), float64(n)
	return nil
}

// Fit returns the model of the rows seen so far. Its status is never converged, as no pass over all rows has
// certified it. Its objective is an estimate: the average over the blocks at the time they were read, times the
// number of rows. Model.Tau is nil.
func (o *Online) Fit(ctx context.Context) (*Fit, error) {
	v, err := o.clone()
	if err != nil {
		return nil, err
	}
	if len(v.s.Weights) > 0 {
		if err := v.draw(ctx, float64(len(v.s.Weights))/BlockRows); err != nil {
			return nil, err
		}
	}
	s := &v.s
	if s.Draws == 0 {
		return nil, fmt.Errorf("scqm: no rows with a weight have come: %w", ErrInput)
	}
	f := sheet.New(s.D, s.Latent, s.S)
	f.Load(s.Point[BlockC], s.Point[BlockQ], s.Point[BlockTheta])
	tau := v.average.Turned()
	model := &Model{Loss: o.config.Loss}
	model.fromSheet(f)
	curvature := model.CurvatureExtent(tau, nil)
	if tau != nil {
		sheet.Canonicalize(f, tau, nil)
	}
	model.fromSheet(f)
	model.Meta = v.meta()
	model.Meta.judgeCurvature(curvature)
	return &Fit{Model: model}, nil
}

// meta returns the Meta of the current model.
func (o *Online) meta() Meta {
	s, c := &o.s, o.config
	penalty := objective.Regularizer{Lambda: s.Lambda}.PenaltyOf(o.problem.Shape(), nil, s.Point[BlockTheta])
	_, notes := c.curvature(Data{N: max(s.Seen, 1), D: s.D})
	run := &framework.Result{Cost: o.average.Cost()*s.Weight + penalty, Status: framework.MaxIterations, Iterations: s.Draws}
	run.Message = fmt.Sprintf("learned from %d rows as they came; no pass over all rows has certified it, and the objective is an estimate", s.Seen)
	m := c.meta(o.problem.Shape(), s.Seen, s.Weight, penalty, solvers.Streaming{}, run, nil, notes)
	m.Warnings = []string{}
	return m
}

// MarshalBinary encodes the learned state, and the rows of an incomplete block.
func (o *Online) MarshalBinary() ([]byte, error) {
	s := o.s
	if o.average != nil {
		s.Average = o.average.State()
	}
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(&s)
	return b.Bytes(), err
}

// Resume restores the state from MarshalBinary of an Online with the same config. It rejects bytes of any other
// config.
func (o *Online) Resume(b []byte) error {
	var s onlineState
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&s); err != nil {
		return fmt.Errorf("%w: %w", errOnline, err)
	}
	if s.D == o.s.D && s.Latent == o.s.Latent && s.Loss == o.s.Loss {
		o.adopt(s.S)
	}
	if s.D != o.s.D || s.Latent != o.s.Latent || s.S != o.s.S || s.Loss != o.s.Loss {
		return fmt.Errorf("scqm: what was learned has d = %d, s = %d for %d columns under the loss %s, and this d = %d, s = %d for %d under %s: %w",
			s.Latent, s.S, s.D, s.Loss, o.s.Latent, o.s.S, o.s.D, o.s.Loss, ErrInput)
	}
	next := &Online{config: o.config, s: s}
	if !next.sound() {
		return errOnline
	}
	if err := next.restore(); err != nil {
		return err
	}
	*o = *next
	return nil
}

// sound reports whether the arrays of the state have consistent lengths.
func (o *Online) sound() bool {
	s := &o.s
	m := s.Latent + s.S
	fits := func(x framework.Point) bool {
		return len(x) == 3 && len(x[BlockC]) == s.D && len(x[BlockQ]) == s.D*m && len(x[BlockTheta]) == sheet.VechLen(s.Latent)*s.S && x.Finite()
	}
	switch {
	case len(s.Rows) != len(s.Weights)*s.D || len(s.Weights) >= BlockRows || !(framework.Point{s.Rows, s.Weights}).Finite():
		return false
	case len(s.Weights) > 0 && slices.Min(s.Weights) < 0:
		return false
	case s.Seen < 0 || s.Draws < 0 || s.Draws > 0 && !(s.Unit > 0 && s.Lambda >= 0 && s.Scale >= 0 && s.Weight > 0 && fits(s.Point)):
		return false
	case s.Prior != nil && !(fits(s.Prior.Point) && s.Prior.N >= 0 && len(s.Prior.Tau) == s.Prior.N*s.Latent && (framework.Point{s.Prior.Tau}).Finite()):
		return false
	}
	return true
}
