package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/drill"
)

// unitsVerbs are command lines that read x.npy, model.npz and tau.npy and write
// out.npy, with the kinds of the columns: a place (p) moves with the data, a length
// (l) is scaled, a number (n) stays, a choice (c) stays but for rounding, which
// may turn it, and something else (s) is let be.
var unitsVerbs = []struct {
	name  string
	args  []string
	kinds string
}{
	{"transform", []string{"transform", "model.npz", "x.npy"}, "l"},
	{"project", []string{"project", "model.npz", "x.npy", "--report"}, "pppplsnnl"},
	{"reconstruct", []string{"reconstruct", "model.npz", "tau.npy"}, "p"},
	{"influence", []string{"influence", "model.npz", "x.npy"}, "llln"},
	{"mean", []string{"mean", "x.npy", "--influence", "more.csv"}, "p"},
	{"denoise", []string{"denoise", "x.npy", "--method", "scqm", "--neighbors", "20", "--report"}, "ppppllnnnnln"},
	{"denoise linear", []string{"denoise", "x.npy", "--method", "lpca", "--neighbors", "20", "--report"}, "ppppllnnnnln"},
	{"denoise auto", []string{"denoise", "x.npy", "--method", "auto", "--report"}, "ppppllsnnnln"},
	{"suggest", []string{"suggest", "x.npy"}, "nnlllllnnc"},
	{"fit", []string{"fit", "x.npy", "--tol", "1e-10"}, ""},
}

// TestDrillUnits: every verb gives for a x + b what it gives for x, scaled and
// moved, for a from 1e-25 to 1e25.
func TestDrillUnits(t *testing.T) {
	sizes := []float64{1e-25, 1e-20, 1e-15, 1e-10, 1e-5, 1e5, 1e10, 1e15, 1e20, 1e25}
	lossList := [][]string{{"l2"}, {"squared_l2"}, {"huber"}, {"l1"}, {"lp", "--p", "1.5"}}
	base := map[string]map[string]*dataset.Matrix{}
	drill.Run(t, "units", 1, func(c drill.Case) error {
		loss := lossList[c.Index%len(lossList)]
		a := sizes[c.Index/len(lossList)%len(sizes)]
		if c.Index < len(sizes) { // in go test, sizes far apart
			a = sizes[(c.Index*3+len(sizes)-1)%len(sizes)]
		}
		x := bowl(60, 4)
		if base[loss[0]] == nil {
			base[loss[0]] = map[string]*dataset.Matrix{}
			p := newPlace(t)
			p.matrix("x.npy", x)
			succeed(t, fitForUnits(p, loss)...)
			succeed(t, "transform", p.path("model.npz"), p.path("x.npy"), "-o", p.path("tau.npy"))
			for _, v := range unitsVerbs {
				got, err := runForUnits(p, v.name, v.args, loss)
				require.NoError(t, err)
				base[loss[0]][v.name] = got
			}
			base[loss[0]]["model"] = p.read("tau.npy")
		}
		// A power of four rounds nothing, nor its root, so that only the way of working can make a
		// difference; other numbers and a shift make one of rounding, which
		// iterations that end early amplify.
		shift, tolerance := make([]float64, x.Cols), 1e-9
		if c.Index%2 == 0 || loss[0] == "l1" { // which has no single minimum
			a = math.Ldexp(1, 2*int(math.Round(math.Log2(a)/2)))
			if loss[0] == "lp" { // whose powers are rounded
				tolerance = 1e-6
			}
		} else {
			tolerance = 0.03
			for j := range shift {
				shift[j] = float64(c.IntN(3)) * c.NormFloat64()
			}
		}
		p := newPlace(t)
		moved := &dataset.Matrix{Rows: x.Rows, Cols: x.Cols, Data: slices.Clone(x.Data)}
		for i, v := range moved.Data {
			moved.Data[i] = a * (v + shift[i%x.Cols])
		}
		p.matrix("x.npy", moved)
		tau := base[loss[0]]["model"]
		scaled := &dataset.Matrix{Rows: tau.Rows, Cols: tau.Cols, Data: slices.Clone(tau.Data)}
		floats.Scale(a, scaled.Data)
		p.matrix("tau.npy", scaled)
		if err := fitInUnits(p, loss); err != nil {
			return err
		}
		for _, v := range unitsVerbs {
			got, err := runForUnits(p, v.name, v.args, loss)
			if err == nil {
				err = sameInUnits(got, base[loss[0]][v.name], v.kinds, a, shift, tolerance)
			}
			if err != nil {
				return fmt.Errorf("%s %v of %g x + b: %w", v.name, loss, a, err)
			}
		}
		return nil
	})
}

func fitForUnits(p place, loss []string) []string {
	return append([]string{"fit", p.path("x.npy"), "-o", p.path("model.npz"), "--ridge", "0.1", "--tol", "1e-10", "--json", "--loss"}, loss...)
}

// fitInUnits fits a model whose report is numbers throughout.
func fitInUnits(p place, loss []string) error {
	r := execute(fitForUnits(p, loss)...)
	if r.code != 0 {
		return fmt.Errorf("fit: code %d: %s", r.code, r.stderr)
	}
	var report map[string]any
	return json.Unmarshal([]byte(r.stdout), &report)
}

// runForUnits runs a command line in a place.
func runForUnits(p place, name string, args, loss []string) (*dataset.Matrix, error) {
	line := slices.Clone(args)
	for i, arg := range line {
		if strings.Contains(arg, ".") && i > 0 && !strings.HasPrefix(arg, "1e") {
			line[i] = p.path(arg)
		}
	}
	out := p.path("out.npy")
	if err := os.RemoveAll(out); err != nil {
		return nil, err
	}
	takesLoss := name == "mean" || name == "fit" || name == "denoise"
	if takesLoss {
		line = append(line, "--loss")
		line = append(line, loss...)
	}
	switch name {
	case "fit":
		line = append(line, "--json", "-o", p.path("again.npz"))
	default:
		line = append(line, "-o", out)
	}
	r := execute(line...)
	if r.code != 0 {
		if _, err := os.Stat(out); err == nil {
			return nil, fmt.Errorf("code %d with a file written: %s", r.code, r.stderr)
		}
		if strings.Count(r.stderr, "\n") != 1 || r.stdout != "" {
			return nil, fmt.Errorf("code %d, and more than one line: %s%s", r.code, r.stderr, r.stdout)
		}
		return nil, fmt.Errorf("code %d: %s", r.code, r.stderr)
	}
	if name == "fit" {
		var report map[string]any
		if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
			return nil, err
		}
		m := &dataset.Matrix{Rows: 1, Cols: 2, Data: []float64{report["d"].(float64), report["s"].(float64)}}
		return m, nil
	}
	return dataset.Read(out, dataset.ReadOptions{})
}

// sameInUnits compares results.
func sameInUnits(got, want *dataset.Matrix, kinds string, a float64, shift []float64, tolerance float64) error {
	if got.Rows != want.Rows || got.Cols != want.Cols {
		return fmt.Errorf("%d x %d, want %d x %d", got.Rows, got.Cols, want.Rows, want.Cols)
	}
	for i := range got.Data {
		j := i % got.Cols
		kind := byte('n')
		if kinds != "" {
			kind = kinds[min(j, len(kinds)-1)]
		}
		v := got.Data[i]
		switch kind {
		case 'p':
			v = v/a - shift[j]
		case 'l':
			v /= a
		case 's':
			continue
		case 'c':
			if tolerance > 1e-6 {
				continue
			}
		}
		if math.IsNaN(v) || math.Abs(v-want.Data[i]) > tolerance*(1+math.Abs(want.Data[i])) {
			return fmt.Errorf("row %d, column %d: %g in the unit, want %g", i/got.Cols, j, v, want.Data[i])
		}
	}
	return nil
}
