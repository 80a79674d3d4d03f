package plugins

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/solvers"
)

// batchSizes are the sizes of residual batches that are compared, in bytes.
var batchSizes = []struct {
	name  string
	bytes int
	calls int
}{{"8KB", 8 << 10, 1001}, {"1MB", 1 << 20, 301}, {"64MB", 64 << 20, 7}}

const benchDim = 16

// BenchmarkOverhead compares |r|^p for p = 1.3 as a plugin in Go, and one in
// Python where there is one to run it, with the built-in loss, call by call in
// turn. The figures are ratios of the fastest calls and of the medians.
func BenchmarkOverhead(b *testing.B) {
	plugins := powers(b)
	plugins["go-bytes"] = start(b, "builtin:lp:1.3", Options{NoSharedMemory: true})
	want := builtin("lp:1.3")
	for _, size := range batchSizes {
		r := normal(size.bytes / wordBytes)
		for name, p := range plugins {
			b.Run(fmt.Sprintf("%s/%s", name, size.name), func(b *testing.B) {
				for b.Loop() {
					reportRatio(b, want, p.Loss(), r, size.calls)
				}
			})
		}
	}
}

// powers starts the plugins.
func powers(b *testing.B) map[string]*Plugin {
	b.Helper()
	plugins := map[string]*Plugin{"go": start(b, "builtin:lp:1.3", Options{})}
	if path, ok := pythonPower(b); ok {
		p, err := Open(b.Context(), path, Options{})
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, p.Close()) })
		plugins["python"] = p
	}
	return plugins
}

// BenchmarkFits compares fits of 2,000 rows of 16, in turn. The built-in loss is
// without what the one in Python does not offer either.
func BenchmarkFits(b *testing.B) {
	x := wideSheet(2000, benchDim)
	plain := struct{ framework.Loss }{builtin("lp:1.3")}
	pairs := map[string][2]framework.Loss{}
	for name, p := range powers(b) {
		pairs[name] = [2]framework.Loss{plain, struct {
			framework.Loss
			rowloss.HighLatency
		}{p.Loss(), p.Loss().(rowloss.HighLatency)}}
	}
	for _, solver := range []string{"newton", "lbfgs"} {
		chosen, err := solvers.ByName(solver)
		require.NoError(b, err)
		for name, pair := range pairs {
			b.Run(name+"/"+solver, func(b *testing.B) {
				for b.Loop() {
					var took [2]float64
					for i, l := range pair {
						c := scqm.Config{Latent: 1, Loss: l, Solver: chosen, Options: framework.Options{MaxIterations: 10}}
						begin := time.Now()
						_, err := scqm.Learn(b.Context(), x, c)
						require.NoError(b, err)
						took[i] = time.Since(begin).Seconds()
					}
					b.ReportMetric(took[1]/took[0], "ratio")
					b.ReportMetric(took[0], "builtin-s")
				}
			})
		}
	}
}

// reportRatio makes calls of the two losses in turn, so that both see the same
// machine.
func reportRatio(b *testing.B, base, l framework.Loss, r []float64, calls int) {
	values, grad := make([]float64, len(r)/benchDim), make([]float64, len(r))
	var took [2][]float64
	for range calls {
		for i, l := range []framework.Loss{base, l} {
			begin := time.Now()
			require.NoError(b, l.Evaluate(values, grad, r, benchDim))
			took[i] = append(took[i], time.Since(begin).Seconds())
		}
	}
	slices.Sort(took[0])
	slices.Sort(took[1])
	b.ReportMetric(took[1][0]/took[0][0], "fastest-ratio")
	b.ReportMetric(took[1][calls/2]/took[0][calls/2], "median-ratio")
	b.ReportMetric(1e6*took[0][calls/2], "builtin-µs")
	b.ReportMetric(1e6*took[1][calls/2], "plugin-µs")
}

// powerLoss is |r|^1.3 in Python.
const powerLoss = `#!/usr/bin/env python3
import numpy as np
from scqm.plugin import Loss, serve

class Power(Loss):
    name = "power"
    def evaluate(self, r):
        a = np.abs(r)
        g = a ** 0.3
        return (a * g).sum(axis=1), np.copysign(1.3 * g, r)

serve(Power)
`

// pythonPower writes the plugin, if there is a Python with what it needs.
func pythonPower(t testing.TB) (string, bool) {
	t.Helper()
	if exec.Command("python3", "-c", "import grpc, numpy, scqm.plugin").Run() != nil {
		return "", false
	}
	path := filepath.Join(t.TempDir(), Prefix+"power")
	require.NoError(t, os.WriteFile(path, []byte(powerLoss), 0o755))
	return path, true
}
