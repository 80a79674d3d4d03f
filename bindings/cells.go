package bindings

import (
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/denoise"
)

// Hashes writes a number for every row at x, the same for equal rows, to out. Those of the least are the sample of
// [StartPartition]. It returns 1.
func Hashes(x uint64, rows, columns int64, out uint64) (int64, error) {
	return guarded("hashes", func() (int64, error) {
		data, err := readData(x, rows, columns, 0)
		if err != nil {
			return 0, err
		}
		to, err := addressList("out", out, data.N)
		if err != nil {
			return 0, err
		}
		for i := range to {
			to[i] = denoise.Hash(data.Row(i))
		}
		return 1, nil
	})
}

// partition is the result of a job that cut space into cells.
type partition struct {
	// Latent is the dimension of the surface, chosen where that was to be done.
	Latent int            `json:"d"`
	Cells  []denoise.Cell `json:"cells"`
}

// StartPartition begins to cut space into cells for a method with the settings of [StartDenoiser] and total rows, of
// which those at x are the ones with the least hashes. It returns 1.
func StartPartition(number int64, settings string, x uint64, rows, columns, total int64, precision uint64) (int64, error) {
	return guarded("partition", func() (int64, error) {
		var s denoiserSettings
		if err := decode(settings, &s); err != nil {
			return 0, err
		}
		data, err := readData(x, rows, columns, 0)
		if err != nil {
			return 0, err
		}
		if total < rows {
			return 0, fmt.Errorf("partition: %d rows, of which %d are a sample: %w", total, rows, framework.ErrInvalid)
		}
		return start(number, "partition", func(j *job) (any, error) {
			m, err := s.method(j, data.D, precision)
			if err != nil {
				return nil, err
			}
			o := denoise.Options{Threads: threads(s.Threads), Axes: s.Axes, CellRows: s.CellRows}
			m, cells, err := denoise.Partition(j.ctx, m, data, int(total), o)
			if err != nil {
				return nil, err
			}
			p := &partition{Latent: s.Latent, Cells: cells}
			if m, ok := m.(interface{ Dimension() int }); ok {
				p.Latent = m.Dimension()
			}
			return p, nil
		})
	})
}

// PartitionReport is the result of such a job as a JSON object: the dimension, and cells, each with its bounds lo and hi
// and its halo.
func PartitionReport(number int64) (string, error) {
	return onResult("partition report", number, func(p *partition) (string, error) {
		return encode(p)
	})
}
