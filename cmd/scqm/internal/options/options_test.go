package options

import (
	"bytes"
	"math"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

// parsed returns a command that has read the flags, and what it writes to stderr.
func parsed(t *testing.T, add func(*cobra.Command), args ...string) (*cobra.Command, *bytes.Buffer) {
	t.Helper()
	var stderr bytes.Buffer
	cmd := &cobra.Command{Use: "test"}
	cmd.SetErr(&stderr)
	cmd.SetContext(t.Context())
	add(cmd)
	require.NoError(t, cmd.ParseFlags(args))
	return cmd, &stderr
}

// A bar is shown when that is asked for, and by default on terminals only.
func TestProgress(t *testing.T) {
	arc := scqm.Data{N: 20, D: 2}
	for i := range arc.N {
		sin, cos := math.Sincos(float64(i) / 10)
		arc.X = append(arc.X, sin, cos)
	}
	for when, shown := range map[string]bool{"always": true, "auto": false, "never": false} {
		var f Progress
		cmd, stderr := parsed(t, f.AddTo, "--progress", when)
		show, end := f.Part(cmd)
		assert.Equal(t, shown, show != nil, when)
		end()
		stderr.Reset()
		_, err := f.Learn(cmd, arc, scqm.Config{Latent: 1, Loss: losses.L2()})
		require.NoError(t, err)
		assert.Equal(t, shown, stderr.Len() > 0, when)
	}
	cmd, _ := parsed(t, func(*cobra.Command) {})
	show, _ := new(Progress).Part(cmd)
	assert.Nil(t, show, "without the flag")
}

// The delta of huber is left to the data unless it is given.
func TestLoss(t *testing.T) {
	for _, c := range []struct {
		args  []string
		needs bool
	}{
		{[]string{"--loss", "huber"}, true},
		{[]string{"--loss", "huber", "--delta", "3"}, false},
		{nil, false},
	} {
		var f Loss
		cmd, _ := parsed(t, f.AddTo, c.args...)
		require.NoError(t, f.Check(cmd))
		assert.True(t, f.BuiltIn())
		assert.Equal(t, c.needs, f.NeedsDelta(), c.args)
	}
	f := Loss{Name: "huber"}
	loss, err := f.WithDelta(2)
	require.NoError(t, err)
	assert.Equal(t, map[string]float64{"delta": 2}, loss.(rowloss.Parametric).Params())

	var wrong Loss
	cmd, _ := parsed(t, wrong.AddTo, "--p", "2")
	require.ErrorContains(t, wrong.Check(cmd), "--loss: losses: loss l2 takes no p")
	cmd, _ = parsed(t, wrong.AddTo, "--loss-param", "a=1")
	require.ErrorIs(t, wrong.Check(cmd), cli.ErrUsage)
}
