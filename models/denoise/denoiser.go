package denoise

import (
	"context"
	"sync"

	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/denoise/internal/auto"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/principal"
	"github.com/scqm/scqm/models/rows"
)

// Denoiser is a method fitted to rows. It may be used by several goroutines at
// once.
type Denoiser struct {
	prepared *core.Prepared
	unit     float64          // unit of the cloud and of the settings of the method
	plane    *principal.Plane // plane of the cloud's coordinates; nil for coordinates of the rows
	note     string
	cells    *cells // of a large cloud, whose middle cell the other fields describe; otherwise nil

	orienting sync.Mutex
	oriented  *orientedPlaces // computed on first use
}

// Fit prepares a method to denoise rows near the surface that the rows of x are near to. Equal rows count as one with
// the sum of their weights. It keeps a reference to x, which must not change. If the size of the rows is beyond 2^100
// or below 2^-100, it copies them to another unit instead. Rows with missing entries are left out if x.Missing, and
// otherwise rejected. It fails with [ErrInput] if x or the settings cannot be used.
func Fit(ctx context.Context, m Method, x rows.Data, o Options) (*Denoiser, error) {
	x, err := onlyComplete(x)
	if err != nil {
		return nil, err
	}
	m, x, unit, copied, err := intoUnits(m, x)
	if err != nil {
		return nil, err
	}
	if copied != nil {
		defer copied.Release()
	}
	d, err := fit(ctx, m, x, o)
	if err == nil {
		d.unit = unit
	}
	return d, err
}

// fit prepares a method for the rows x in their present unit.
func fit(ctx context.Context, m Method, x rows.Data, o Options) (*Denoiser, error) {
	if err := core.CheckRows(x); err != nil {
		return nil, err
	}
	if wantsCells(m, x, o) {
		return fitCells(ctx, m, x, o)
	}
	return fitWhole(ctx, m, x, o)
}

// fitWhole prepares a method for all rows as one cloud. The rows have been checked.
func fitWhole(ctx context.Context, m Method, x rows.Data, o Options) (*Denoiser, error) {
	x = core.Shuffled(x)
	p, linear, err := findPlane(ctx, m, x, o)
	if err != nil {
		return nil, err
	}
	if linear != nil && linear.Plain(p) {
		return fitLinear(ctx, x, linear, mostLatent(m), linear.Why(mostLatent(m), "more than ", linear.Bent), o)
	}
	d, err := fitCharts(ctx, m, p, linear, x, o)
	if err != nil {
		return nil, err
	}
	if flat, ok := d.prepared.Fitted.(*auto.Flat); ok {
		return fitLinear(ctx, x, linear, core.LatentOf(d.prepared.Method), flat.Why, o)
	}
	return d, nil
}

// fitCharts prepares a method for the coordinates of rows along the axes of a plane.
func fitCharts(ctx context.Context, m Method, p *principal.Plane, l *principal.Linear, x rows.Data, o Options) (*Denoiser, error) {
	m = onPlane(m, p, l)
	held, err := core.ReserveFit(m, p.SettleSize(x), o)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	c, err := p.Cloud(x, par.Threads(o.Threads))
	if err != nil {
		return nil, err
	}
	settled := m
	if _, err = m.Size(len(c.Used), c.D); err == nil {
		settled, err = core.Settle(ctx, m, c, o)
	}
	d := &Denoiser{unit: 1, plane: p}
	if err != nil {
		left, err := core.Instead(m, err)
		if err != nil {
			return nil, err
		}
		settled, d.note = left, left.Why
	}
	if d.prepared, err = core.Prepare(ctx, settled, c, o); err != nil {
		return nil, err
	}
	if f, ok := d.prepared.Fitted.(interface{ Note() string }); ok {
		d.note = f.Note()
	}
	return d, nil
}

// fitLinear prepares a linear model in place of charts of dimension d.
func fitLinear(ctx context.Context, x rows.Data, l *principal.Linear, d int, why string, o Options) (*Denoiser, error) {
	out, err := fitCharts(ctx, l.Method(d), l.Plane, nil, x, o)
	if err == nil {
		out.note = why
	}
	return out, err
}

// Method returns the method, with the settings that it has determined from the rows.
func (d *Denoiser) Method() Method {
	m, _ := core.MethodIn(d.prepared.Method, 1/d.unit)
	return onPlane(m, nil, nil)
}

// Note explains why the method is not the requested one; it is empty otherwise.
func (d *Denoiser) Note() string { return d.note }

// Neighbors returns the number of neighbours used to judge results. For all methods but [Auto] it is also the number
// from which charts are made.
func (d *Denoiser) Neighbors() int { return d.prepared.Size }

// Denoise denoises the rows of x, which may be the fitted rows or others of the same length; their weights do not
// matter. When ctx is done it returns the error of ctx with a partial result, in which the remaining rows are
// Unchanged. If x.Missing, rows with missing entries are Unchanged, too.
func (d *Denoiser) Denoise(ctx context.Context, x rows.Data, o Options) (*Result, error) {
	x.Weights = nil
	if list := completeRows(x); list != nil {
		return d.denoiseComplete(ctx, x, list, o)
	}
	if d.unit == 1 {
		return d.denoise(ctx, x, o)
	}
	held, err := reserveCopy(d.prepared.Method, x)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	r, err := d.denoise(ctx, x.InUnits(d.unit), o)
	if r != nil {
		leaveUnits(r, d.unit, x)
	}
	return r, err
}

// denoise denoises rows that are in the unit of the cloud.
func (d *Denoiser) denoise(ctx context.Context, x rows.Data, o Options) (*Result, error) {
	if err := core.CheckRows(x); err != nil {
		return nil, err
	}
	if err := o.Check(x.D, d.columns()); err != nil {
		return nil, err
	}
	if d.cells != nil {
		return d.cells.denoise(ctx, x, o)
	}
	held, err := d.prepared.Reserve(x, o)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	if d.plane != nil {
		return d.denoiseWide(ctx, x, o)
	}
	return d.prepared.Denoise(ctx, x, o)
}

// reserveCopy reserves the memory for a copy of the rows.
func reserveCopy(m Method, x rows.Data) (*memory.Reservation, error) {
	return core.NewFootprint(m, x, Options{}).Reserve(m, x, float64(x.N)*float64(x.D))
}

// intoUnits divides rows beyond 2^100 or below 2^-100 by a power of two, with the settings of the method, if the
// method can be rescaled.
func intoUnits(m Method, x rows.Data) (Method, rows.Data, float64, *memory.Reservation, error) {
	unit := 1.0
	if x.N > 0 && x.D > 0 && len(x.X) == x.N*x.D {
		unit = rows.WorkingUnit(x)
	}
	in, ok := core.MethodIn(m, unit)
	if unit == 1 || !ok {
		return m, x, 1, nil, nil
	}
	held, err := reserveCopy(m, x)
	if err != nil {
		return nil, x, 1, nil, err
	}
	return in, x.InUnits(unit), unit, held, nil
}

// leaveUnits converts a result for rows divided by a unit to the result for the rows x.
func leaveUnits(r *Result, unit float64, x rows.Data) {
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Residual *= unit
		row.Noise *= unit
		out := r.X[i*x.D : (i+1)*x.D]
		if row.Unchanged {
			copy(out, x.Row(i))
			continue
		}
		for j := range out {
			out[j] *= unit
		}
	}
	r.ShareError *= unit
	r.ShareMoved *= unit
}
