package bindings

import (
	"fmt"
	"time"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/denoise"
	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/scqm"
)

// denoiserSettings are the settings of denoiserOf. A setting that is left out has the
// default of the method.
type denoiserSettings struct {
	Method string `json:"method"`
	// Latent is the number of latent coordinates; -1 chooses it from the rows.
	Latent int `json:"d"`
	// Neighbors is the number of neighbours: 0 for the default of the method, -1 to choose it from the rows.
	Neighbors int `json:"n_neighbors"`
	// Loss is nil for methods that take no loss, and for auto with its default, Tukey's loss.
	Loss *lossChoice `json:"loss"`
	// Ridge is the ridge penalty: nil for the default, 0 for none.
	Ridge  *float64 `json:"ridge"`
	Passes int      `json:"passes"`
	Degree int      `json:"degree"`
	Flat   bool     `json:"flat_weights"`
	Width  float64  `json:"width"`
	Local  bool     `json:"local_width"`
	// Axes is the number of principal axes: 0 to choose it, -1 to keep all columns.
	Axes int `json:"axes"`
	// CellRows is the number of rows of a cell; large point clouds are cut into cells. 0 is the default.
	CellRows int `json:"cell_rows"`
	// Threads is the number of threads. It does not change the result.
	Threads int `json:"threads"`
	// IgnoreMissing omits rows with missing entries.
	IgnoreMissing bool `json:"ignore_missing"`
}

// denoiser is the result of a job that has fitted a denoising method.
type denoiser struct {
	*denoise.Denoiser
	settings denoiserSettings
	data     scqm.Data
	grid     denoise.Grid
}

// denoiserOf fits a denoising method to data. Equal rows count as one row with the sum
// of their weights. The precision of the loss may be an array. denoiseOf and geometryOf
// use the result until the job is released; the arrays must stay valid until then. The
// report has the method used, a note if it is not the requested one, the dimension, the
// position of the chosen number of neighbours in its grid, the number of principal axes
// (0: all columns), the parameters of the loss, and its plugin.
func denoiserOf(in *input) work {
	var s denoiserSettings
	in.decode(&s)
	if s.Loss != nil {
		in.loss(s.Loss)
	}
	data := in.data()
	data.Missing = s.IgnoreMissing
	return func(j *job) (*outcome, error) {
		d, err := s.fit(j, data)
		if err != nil {
			return nil, err
		}
		return &outcome{report: d.report(), kept: d}, nil
	}
}

func (s denoiserSettings) fit(j *job, data scqm.Data) (*denoiser, error) {
	method, err := s.method(j, data.D)
	if err != nil {
		return nil, err
	}
	d, err := denoise.Fit(j.ctx, method, data, denoise.Options{Threads: threads(s.Threads), Axes: s.Axes, CellRows: s.CellRows, Progress: j.part()})
	if err != nil {
		return nil, err
	}
	grid := d.Grid(s.Neighbors == denoise.ChooseNeighbors || s.Neighbors == 0 && denoise.ChoosesNeighbors(s.Method))
	if s.Neighbors == denoise.ChooseNeighbors {
		s.Neighbors = d.Neighbors() // chosen by the fit; not chosen again
	}
	s.Latent = d.Latent()
	return &denoiser{Denoiser: d, settings: s, data: data, grid: grid}, nil
}

// method returns the denoising method for rows with the given number of columns.
func (s denoiserSettings) method(j *job, columns int) (denoise.Method, error) {
	settings := denoise.Settings{
		Latent: s.Latent, Neighbors: s.Neighbors, Passes: s.Passes, Degree: s.Degree, Flat: s.Flat,
		Width: s.Width, Local: s.Local,
	}
	if s.Ridge != nil {
		if settings.Ridge = *s.Ridge; settings.Ridge == 0 {
			settings.Ridge = classic.NoRidge
		}
	}
	if s.Loss != nil && s.Loss.asksData() && s.Loss.Name != huberEntries {
		settings.LossFor = func(distances []float64) (framework.Loss, error) {
			return losses.ByName(s.Loss.Name, losses.Params{Delta: new(losses.DefaultDelta(s.Loss.Name, distances))})
		}
	} else if s.Loss != nil {
		var err error
		if settings.Loss, err = s.Loss.build(j); err != nil {
			return nil, err
		}
		if l, ok := settings.Loss.(rowloss.Dimensioned); ok && l.Dim() != columns {
			return nil, fmt.Errorf("loss %s is for rows of length %d, not %d: %w", settings.Loss.Name(), l.Dim(), columns, framework.ErrInvalid)
		}
		s.Loss.learn(settings.Loss)
	}
	return denoise.ByName(s.Method, settings)
}

// part returns a function that stores the completed fraction of the work, which [Wait] reports.
func (j *job) part() func(float64) {
	began := time.Now()
	return func(done float64) {
		j.progress.Store(&framework.Record{Cost: done, Elapsed: time.Since(began)})
	}
}

func (d *denoiser) report() any {
	report := map[string]any{"method": d.Method().Name(), "note": d.Note(), "d": d.Latent(), "axes": d.Axes(), "grid_end": d.grid.String()}
	if d.settings.Loss != nil {
		report["plugin"] = d.settings.Loss.program
	}
	if m, ok := d.Method().(classic.SCQM); ok {
		report["loss_params"] = paramsOf(m.Loss)
	}
	return report
}

// denoiseSettings are the settings of denoiseOf and geometryOf.
type denoiseSettings struct {
	// Denoiser is the number of a job of denoiserOf that is done. It must not be released
	// before this job.
	Denoiser int64 `json:"denoiser"`
	// IgnoreMissing leaves rows with missing entries unchanged.
	IgnoreMissing bool    `json:"ignore_missing"`
	Average       int     `json:"average"`
	Share         float64 `json:"share"`
	Threads       int     `json:"threads"`
	// Viewpoint is the point to which the normals of geometryOf are directed. It may be empty.
	Viewpoint []float64 `json:"viewpoint"`
}

// denoising reads the settings, the fitted denoiser and the rows to denoise.
func (in *input) denoising() (s denoiseSettings, d *denoiser, data scqm.Data) {
	in.decode(&s)
	data = in.data()
	data.Missing = s.IgnoreMissing
	j, err := find(s.Denoiser)
	if err == nil {
		var o *outcome
		if o, err = j.outcome(); err == nil {
			d, _ = o.kept.(*denoiser)
		}
	}
	if err == nil && d == nil {
		err = fmt.Errorf("job %d has fitted no method: %w", s.Denoiser, errJob)
	}
	in.note(err)
	return s, d, data
}

// run denoises the rows of y with d. It also describes the surface at them if surface is true.
func (s denoiseSettings) run(j *job, d *denoiser, y scqm.Data, surface bool) (*denoise.Denoiser, *denoise.Result, error) {
	of, err := d.forJob(j)
	if err != nil {
		return nil, nil, err
	}
	r, err := of.Denoise(j.ctx, y, denoise.Options{
		Threads: threads(s.Threads), Average: s.Average, Share: s.Share, Progress: j.part(), Surface: surface,
	})
	return of, r, err
}

// denoiseOf denoises the rows of data. The arrays are out, and about with six columns:
// residual, noise, neighbours, ridge, extrapolated (1 or 0) and unchanged (1 or 0). The
// report is the root mean square distance to the results without sharing.
func denoiseOf(in *input) work {
	s, d, y := in.denoising()
	return func(j *job) (*outcome, error) {
		_, r, err := s.run(j, d, y, false)
		if err != nil {
			return nil, err
		}
		var about []float64
		for _, row := range r.Rows {
			about = append(about, row.Residual, row.Noise, float64(row.Neighbors), row.Ridge, truth(row.Extrapolated), truth(row.Unchanged))
		}
		return &outcome{report: r.ShareError, arrays: map[string][]float64{"out": r.X, "about": about}}, nil
	}
}

// geometryOf denoises the rows of data and describes the surface there. If the array like is given,
// normals point to the side of its vectors. The arrays are out, normals, principal curvatures (absent
// unless d is D - 1), mean curvature, standard error and outlier score.
func geometryOf(in *input) work {
	s, d, y := in.denoising()
	var side denoise.Orientation
	if len(s.Viewpoint) > 0 {
		side.Viewpoint = s.Viewpoint
	}
	side.Like, _ = in.optional("like", y.N, y.D)
	return func(j *job) (*outcome, error) {
		of, r, err := s.run(j, d, y, true)
		if err != nil {
			return nil, err
		}
		g, err := of.Geometry(j.ctx, y, r, side, denoise.Options{Threads: threads(s.Threads)})
		if err != nil {
			return nil, err
		}
		arrays := map[string][]float64{"out": r.X, "curvature": g.Curvature, "error": g.Error, "score": g.Score}
		if g.Normals != nil {
			arrays["normals"], arrays["principal"] = g.Normals, g.Principal
		}
		return &outcome{arrays: arrays}, nil
	}
}

// forJob returns the denoiser for use by the job j. A loss computed by Python or a
// plugin belongs to the job that made it, so forJob makes the method again with a loss
// of j. Such methods prepare almost nothing, so this is fast.
func (d *denoiser) forJob(j *job) (*denoise.Denoiser, error) {
	if d.settings.Loss == nil || !d.settings.Loss.elsewhere() {
		return d.Denoiser, nil
	}
	again, err := d.settings.fit(j, d.data)
	if err != nil {
		return nil, err
	}
	return again.Denoiser, nil
}
