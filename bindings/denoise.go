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

// denoiserSettings are the settings of [StartDenoiser]; what is left out has the
// default of the method.
type denoiserSettings struct {
	Method string `json:"method"`
	// Latent is -1 to choose it by the rows.
	Latent int `json:"d"`
	// Neighbors is 0 for the default of the method, -1 to choose by the rows.
	Neighbors int `json:"n_neighbors"`
	// Loss is nil for methods without one, and for Tukey's of auto.
	Loss *lossChoice `json:"loss"`
	// Ridge is nil for the default; 0 is none.
	Ridge  *float64 `json:"ridge"`
	Passes int      `json:"passes"`
	Degree int      `json:"degree"`
	Flat   bool     `json:"flat_weights"`
	Width  float64  `json:"width"`
	Local  bool     `json:"local_width"`
	// Axes is the number of principal axes, 0 to find it, -1 for all columns.
	Axes int `json:"axes"`
	// CellRows is the number of rows of the cells that larger clouds are cut into, 0 for the default.
	CellRows int `json:"cell_rows"`
	// Threads does not change the result.
	Threads int `json:"threads"`
	// IgnoreMissing leaves rows with missing entries out.
	IgnoreMissing bool `json:"ignore_missing"`
}

// denoiser is the result of a job that fitted a method.
type denoiser struct {
	*denoise.Denoiser
	settings denoiserSettings
	data     scqm.Data
	note     string // what was done differently, and why
	grid     denoise.Grid
}

// StartDenoiser begins to fit a method to the rows x, with one weight per row at
// weights (0: all 1) and the precision matrix of the loss at precision (0:
// none). Equal rows count as one with the sum of their weights. [StartDenoise] uses the result as long as the job is not released, and
// x and weights must live as long. It returns 1.
func StartDenoiser(number int64, settings string, x uint64, rows, columns int64, weights, precision uint64) (int64, error) {
	return guarded("denoiser", func() (int64, error) {
		var s denoiserSettings
		if err := decode(settings, &s); err != nil {
			return 0, err
		}
		data, err := readData(x, rows, columns, weights)
		if err != nil {
			return 0, err
		}
		data.Missing = s.IgnoreMissing
		return start(number, "denoiser", func(j *job) (any, error) { return s.fit(j, data, precision) })
	})
}

func (s denoiserSettings) fit(j *job, data scqm.Data, precision uint64) (*denoiser, error) {
	method, err := s.method(j, data.D, precision)
	if err != nil {
		return nil, err
	}
	d, err := denoise.Fit(j.ctx, method, data, denoise.Options{Threads: threads(s.Threads), Axes: s.Axes, CellRows: s.CellRows, Progress: j.part()})
	if err != nil {
		return nil, err
	}
	grid := d.Grid(s.Neighbors == denoise.ChooseNeighbors || s.Neighbors == 0 && denoise.ChoosesNeighbors(s.Method))
	if s.Neighbors == denoise.ChooseNeighbors {
		s.Neighbors = d.Neighbors() // which need not be chosen again
	}
	s.Latent = d.Latent()
	return &denoiser{Denoiser: d, settings: s, data: data, note: d.Note(), grid: grid}, nil
}

// method makes the method for rows of so many columns.
func (s denoiserSettings) method(j *job, columns int, precision uint64) (denoise.Method, error) {
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
		if settings.Loss, err = s.Loss.build(j, precision); err != nil {
			return nil, err
		}
		if l, ok := settings.Loss.(rowloss.Dimensioned); ok && l.Dim() != columns {
			return nil, fmt.Errorf("loss %s is for rows of length %d, not %d: %w", settings.Loss.Name(), l.Dim(), columns, framework.ErrInvalid)
		}
		s.Loss.learn(settings.Loss)
	}
	return denoise.ByName(s.Method, settings)
}

// part returns what keeps the part of the work that is done for [Wait].
func (j *job) part() func(float64) {
	began := time.Now()
	return func(done float64) {
		j.progress.Store(&framework.Record{Cost: done, Elapsed: time.Since(began)})
	}
}

// DenoiserReport describes the result of such a job as a JSON object: the method
// used, a note where it is not the one asked for, the dimension, where the grid of
// numbers of neighbours ended, the number of principal axes (0: all columns), the parameters of its loss, and the plugin that
// computes it.
func DenoiserReport(number int64) (string, error) {
	return onResult("denoiser report", number, func(d *denoiser) (string, error) {
		report := struct {
			Method     string             `json:"method"`
			Note       string             `json:"note"`
			Latent     int                `json:"d"`
			Axes       int                `json:"axes"`
			GridEnd    string             `json:"grid_end"`
			LossParams map[string]float64 `json:"loss_params,omitempty"`
			Plugin     *rowloss.Program   `json:"plugin,omitempty"`
		}{Method: d.Method().Name(), Note: d.note, Latent: d.Latent(), Axes: d.Axes(), GridEnd: d.grid.String()}
		if d.settings.Loss != nil {
			report.Plugin = d.settings.Loss.program
		}
		if m, ok := d.Method().(classic.SCQM); ok {
			if p, ok := m.Loss.(rowloss.Parametric); ok {
				report.LossParams = p.Params()
			}
		}
		return encode(report)
	})
}

// denoiseSettings are the settings of [StartDenoise].
type denoiseSettings struct {
	// IgnoreMissing leaves rows with missing entries as they are.
	IgnoreMissing bool    `json:"ignore_missing"`
	Average       int     `json:"average"`
	Share         float64 `json:"share"`
	Threads       int     `json:"threads"`
}

// denoiseColumns is the number of columns of the report on rows: residual,
// noise, neighbours, ridge, and 1 or 0 for extrapolated and for unchanged.
const denoiseColumns = 6

// StartDenoise begins to denoise the rows y with the result of the job denoiser,
// which must be done and not be released before this one. The destinations are
// out, rows x columns, and report, rows x 6 (residual, noise, neighbours, ridge,
// extrapolated, unchanged), which may be 0. It returns 1.
func StartDenoise(number, denoiser int64, settings string, y uint64, rows, columns int64, out, report uint64) (int64, error) {
	return guarded("denoise", func() (int64, error) {
		var s denoiseSettings
		if err := decode(settings, &s); err != nil {
			return 0, err
		}
		fitted, data, to, err := readDenoising(denoiser, y, rows, columns, out)
		if err != nil {
			return 0, err
		}
		data.Missing = s.IgnoreMissing
		about, err := optionalView("report", report, data.N*denoiseColumns)
		if err != nil {
			return 0, err
		}
		return start(number, "denoise", func(j *job) (any, error) { return fitted.denoise(j, data, s, to, about) })
	})
}

// readDenoising finds a denoiser, the rows to denoise, and where the result goes.
func readDenoising(denoiser int64, y uint64, rows, columns int64, out uint64) (fitted *denoiser, data scqm.Data, to []float64, err error) {
	if fitted, err = findDenoiser(denoiser); err != nil {
		return nil, data, nil, err
	}
	if data, err = readData(y, rows, columns, 0); err != nil {
		return nil, data, nil, err
	}
	to, err = view("out", out, len(data.X))
	return fitted, data, to, err
}

func findDenoiser(number int64) (*denoiser, error) {
	j, err := find(number)
	if err != nil {
		return nil, err
	}
	return resultOf[*denoiser](j)
}

// shared is what charts that serve several rows have cost.
type shared struct {
	Error float64 `json:"share_error"`
}

func (d *denoiser) denoise(j *job, y scqm.Data, s denoiseSettings, to, about []float64) (*shared, error) {
	of, err := d.forJob(j)
	if err != nil {
		return nil, err
	}
	r, err := of.Denoise(j.ctx, y, denoise.Options{
		Threads: threads(s.Threads), Average: s.Average, Share: s.Share, Progress: j.part(),
	})
	if err != nil {
		return nil, err
	}
	copy(to, r.X)
	cost := &shared{r.ShareError}
	if about == nil {
		return cost, nil
	}
	for i, row := range r.Rows {
		copy(about[i*denoiseColumns:], describeRow(row))
	}
	return cost, nil
}

// describeRow is a row of the report.
func describeRow(r denoise.Row) []float64 {
	return []float64{r.Residual, r.Noise, float64(r.Neighbors), r.Ridge, truth(r.Extrapolated), truth(r.Unchanged)}
}

// DenoiseReport describes the result of a job of [StartDenoise] as a JSON object:
// share_error, the root mean square distance from results without sharing.
func DenoiseReport(number int64) (string, error) {
	return onResult("denoise report", number, func(cost *shared) (string, error) {
		return encode(cost)
	})
}

// forJob returns the denoiser for the use of a job: a loss that is computed
// elsewhere serves the job only that it was made for. Methods with such a loss
// prepare next to nothing.
func (d *denoiser) forJob(j *job) (*denoise.Denoiser, error) {
	if d.settings.Loss == nil || !d.settings.Loss.elsewhere() {
		return d.Denoiser, nil
	}
	again, err := d.settings.fit(j, d.data, 0)
	if err != nil {
		return nil, err
	}
	return again.Denoiser, nil
}

// Methods describes the methods of denoising as a JSON list, the recommended one
// first.
func Methods() (string, error) {
	return guarded("methods", func() (string, error) {
		type method struct {
			Name     string   `json:"name"`
			Summary  string   `json:"summary"`
			Settings []string `json:"settings"`
		}
		var list []method
		for _, d := range denoise.Describe() {
			list = append(list, method{d.Name, d.Summary, append([]string{}, d.Settings...)})
		}
		return encode(list)
	})
}
