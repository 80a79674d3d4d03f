package denoise

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/rows"
)

// hostileRows are data that no method was made for, from some noise.
func hostileRows(seed uint64) map[string]rows.Data {
	generate := func(n, D int, change func(i int, row []float64)) rows.Data {
		x := rows.Data{N: n, D: D, X: normalRows(11+seed, n, D)}
		for i := range n {
			change(i, x.Row(i))
		}
		return x
	}
	sphere := func(scale, offset float64) rows.Data {
		x := sphereSample(1+seed, 120, 0.05).x
		for i := range x.X {
			x.X[i] = x.X[i]*scale + offset
		}
		return x
	}
	return map[string]rows.Data{
		"all equal":       generate(60, 3, func(_ int, r []float64) { copy(r, []float64{1, 2, 3}) }),
		"few values":      generate(90, 3, func(i int, r []float64) { copy(r, []float64{float64(i % 3), float64(i % 2), 0}) }),
		"duplicates":      generate(120, 3, func(i int, r []float64) { copy(r, []float64{math.Sin(float64(i / 40)), 1, 2}) }),
		"half duplicates": generate(120, 3, func(i int, r []float64) { copy(r[:i%2*3], make([]float64, 3)) }),
		"collinear":       generate(80, 3, func(i int, r []float64) { copy(r, []float64{float64(i), 2 * float64(i), -float64(i)}) }),
		"constant column": generate(100, 4, func(_ int, r []float64) { r[1] = 5 }),
		"constant all but one": generate(100, 4, func(i int, r []float64) {
			copy(r, []float64{3, float64(i), 3, 3})
		}),
		"outlier cluster": generate(120, 3, func(i int, r []float64) {
			if i < 25 {
				for j := range r {
					r[j] = 50 + 1e-3*r[j]
				}
			}
		}),
		"far outlier": generate(100, 3, func(i int, r []float64) { r[0] += float64(i/99) * 1e9 }),
		"few rows":    generate(5, 3, func(int, []float64) {}),
		"one row":     generate(1, 3, func(int, []float64) {}),
		"two columns": generate(70, 2, func(int, []float64) {}),
		"wide":        generate(35, 40, func(int, []float64) {}),
		"wide, constant columns": generate(60, 30, func(i int, r []float64) {
			for j := range 20 {
				r[j] = float64(j)
			}
		}),
		"wide, exact": generate(90, 25, func(_ int, r []float64) {
			for j := range r {
				r[j] = r[j%3]
			}
		}),
		"wide, far rows": generate(80, 40, func(i int, r []float64) {
			r[0], r[i%40] = 9*r[0], r[i%40]+float64(i/70)*1e9
		}),
		"wide, two rows": generate(2, 40, func(int, []float64) {}),
		"tiny":           sphere(1e-12, 0),
		"huge":           sphere(1e12, 0),
		"offset":         sphere(1, 1e6),
		"beyond squares": sphere(1e200, 0),
		"grid":           generate(125, 3, func(i int, r []float64) { copy(r, []float64{float64(i % 5), float64(i / 5 % 5), float64(i / 25)}) }),
	}
}

// TestHostileRows wants finite rows near their neighbours, or an error for bad
// input: each data with one method, all with all in a soak.
func TestHostileRows(t *testing.T) {
	needSpeed(t)
	methods, data := everyMethod(t, 2), slices.Sorted(maps.Keys(hostileRows(0)))
	names := slices.Sorted(maps.Keys(methods))
	drill.Run(t, "hostile rows", len(data), func(c drill.Case) error {
		i, k, lap := pair(c.Index, len(data), len(names))
		if err := tryHostileRows(methods[names[k]], hostileRows(uint64(lap))[data[i]]); err != nil {
			return fmt.Errorf("%s, %s: %w", data[i], names[k], err)
		}
		return nil
	})
}

// pair enumerates the pairs of one of n things and one of few, few <= n, so that the
// first n pairs have every one of both. lap counts how often all pairs have come.
func pair(number, n, few int) (i, k, lap int) {
	lap, number = number/(n*few), number%(n*few)
	return number % n, (number/n + number%n) % few, lap
}

func TestPair(t *testing.T) {
	seen := map[[3]int]bool{}
	var first, second [5]bool
	for number := range 30 {
		i, k, lap := pair(number, 5, 3)
		seen[[3]int{i, k, lap}] = true
		if number < 5 {
			first[i], second[k] = true, true
		}
	}
	require.Len(t, seen, 30)
	require.Equal(t, [5]bool{true, true, true, true, true}, first)
	require.Equal(t, [5]bool{true, true, true}, second)
}

func tryHostileRows(m Method, x rows.Data) error {
	d, err := Fit(context.Background(), m, x, Options{})
	if errors.Is(err, ErrInput) {
		return nil
	}
	if err != nil {
		return err
	}
	r, err := d.Denoise(context.Background(), x, Options{})
	if err != nil {
		return err
	}
	for i, row := range r.Rows {
		for _, v := range r.X[i*x.D : (i+1)*x.D] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("row %d is not finite", i)
			}
		}
		if math.IsNaN(row.Noise) || math.IsInf(row.Residual, 0) {
			return fmt.Errorf("row %d: %+v", i, row)
		}
	}
	return nil
}

// TestScale: other units give the same result in those units.
func TestScale(t *testing.T) {
	needSpeed(t)
	x := sphereSample(1, 150, 0.05).x
	for name, m := range everyMethod(t, 2) {
		want := run(t, m, x, Options{}).X
		for _, unit := range []float64{0x1p-40, 0x1p40} {
			y := rows.Data{N: x.N, D: x.D, X: make([]float64, len(x.X))}
			for i, v := range x.X {
				y.X[i] = v * unit
			}
			got := run(t, m, y, Options{}).X
			for i := range got {
				require.InDelta(t, want[i], got[i]/unit, 1e-5, "%s, %v", name, unit)
			}
		}
	}
}

func TestThrownRowsStay(t *testing.T) {
	needSpeed(t)
	x := sphereSample(2, 300, 0.25).x
	for name, m := range everyMethod(t, 2) {
		d, err := Fit(context.Background(), m, x, Options{})
		require.NoError(t, err)
		r, err := d.Denoise(context.Background(), x, Options{})
		require.NoError(t, err)
		for i, row := range r.Rows {
			require.Less(t, row.Residual, 4.0, "%s, row %d", name, i)
			if row.Unchanged {
				require.Equal(t, x.Row(i), r.X[3*i:3*i+3])
				require.Zero(t, row.Residual)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	ctx := context.Background()
	x := sphereSample(2, 50, 0.1).x
	bad := rows.Data{N: 2, D: 2, X: []float64{1, 2, math.NaN(), 4}}
	weights := x
	weights.Weights = make([]float64, 50)
	for want, try := range map[string]func() error{
		"row 1, column 0 is NaN": func() error { _, err := Fit(ctx, classic.LPCA{Latent: 1}, bad, Options{}); return err },
		"all weights are 0":      func() error { _, err := Fit(ctx, classic.LPCA{Latent: 1}, weights, Options{}); return err },
		"latent dimension 4":     func() error { _, err := Fit(ctx, classic.LPCA{Latent: 4}, x, Options{}); return err },
		"neighbours are too few": func() error { _, err := Fit(ctx, classic.MLS{Latent: 2, Neighbors: 5}, x, Options{}); return err },
		"degree is 3":            func() error { _, err := Fit(ctx, classic.MLS{Latent: 2, Degree: 3}, x, Options{}); return err },
		"given or local": func() error {
			_, err := Fit(ctx, classic.KDE{Latent: 2, Width: 1, Local: true}, x, Options{})
			return err
		},
		"no setting degree":    func() error { _, err := ByName("lpca", Settings{Latent: 2, Degree: 2}); return err },
		"there are auto, scqm": func() error { _, err := ByName("best", Settings{}); return err },
		"the rows have 2 columns": func() error {
			d, err := Fit(ctx, classic.LPCA{Latent: 1}, x, Options{})
			require.NoError(t, err)
			_, err = d.Denoise(ctx, rows.Data{N: 1, D: 2, X: []float64{1, 2}}, Options{})
			return err
		},
		"not both": func() error {
			d, err := Fit(ctx, classic.LPCA{Latent: 1}, x, Options{})
			require.NoError(t, err)
			_, err = d.Denoise(ctx, x, Options{Share: 0.5, Average: 3})
			return err
		},
	} {
		err := try()
		require.ErrorIs(t, err, ErrInput)
		require.ErrorContains(t, err, want)
	}
}
