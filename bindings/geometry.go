package bindings

import (
	"github.com/scqm/scqm/models/denoise"
	"github.com/scqm/scqm/models/scqm"
)

// geometrySettings are the settings of [StartGeometry].
type geometrySettings struct {
	denoiseSettings
	// Viewpoint is where normals point to; empty for none.
	Viewpoint []float64 `json:"viewpoint"`
}

// geometryColumns is the number of columns about the surface at a row of length D
// near a surface of dimension d, beside its normal and principal curvatures:
// curvature, error and score.
const geometryColumns = 3

// StartGeometry begins to denoise the rows y with the result of the job denoiser, as
// [StartDenoise], and describes the surface there. like, rows x columns, has vectors
// that normals agree with, or is 0. The destinations are out, rows x columns, and
// about, rows x (columns + d + 3): normal and principal curvatures, which are 0 where d is
// not columns - 1, mean curvature, standard error and outlier score. It returns 1.
func StartGeometry(number, denoiser int64, settings string, y uint64, rows, columns int64, like, out, about uint64) (int64, error) {
	return guarded("geometry", func() (int64, error) {
		var s geometrySettings
		if err := decode(settings, &s); err != nil {
			return 0, err
		}
		fitted, data, to, err := readDenoising(denoiser, y, rows, columns, out)
		if err != nil {
			return 0, err
		}
		data.Missing = s.IgnoreMissing
		var side denoise.Orientation
		if len(s.Viewpoint) > 0 {
			side.Viewpoint = s.Viewpoint
		}
		if side.Like, err = optionalView("like", like, len(data.X)); err != nil {
			return 0, err
		}
		into, err := view("about", about, data.N*(data.D+fitted.settings.Latent+geometryColumns))
		if err != nil {
			return 0, err
		}
		return start(number, "geometry", func(j *job) (any, error) { return nil, fitted.describe(j, data, s, side, to, into) })
	})
}

func (d *denoiser) describe(j *job, y scqm.Data, s geometrySettings, side denoise.Orientation, to, about []float64) error {
	of, err := d.forJob(j)
	if err != nil {
		return err
	}
	o := denoise.Options{Threads: threads(s.Threads), Average: s.Average, Share: s.Share, Progress: j.part(), Surface: true}
	r, err := of.Denoise(j.ctx, y, o)
	if err != nil {
		return err
	}
	g, err := of.Geometry(j.ctx, y, r, side, denoise.Options{Threads: o.Threads})
	if err != nil {
		return err
	}
	copy(to, r.X)
	latent := d.settings.Latent
	width := y.D + latent + geometryColumns
	for i := range y.N {
		row := about[i*width : (i+1)*width]
		clear(row)
		if g.Normals != nil {
			copy(row, g.Normals[i*y.D:(i+1)*y.D])
			copy(row[y.D:], g.Principal[i*latent:(i+1)*latent])
		}
		copy(row[y.D+latent:], []float64{g.Curvature[i], g.Error[i], g.Score[i]})
	}
	return nil
}
