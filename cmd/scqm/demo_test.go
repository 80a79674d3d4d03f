package main

import (
	"image/png"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/scqm"
)

func TestDemo(t *testing.T) {
	t.Chdir("../..")
	p := newPlace(t)
	out := succeed(t, "demo", "-o", p.path("new/out"))

	for _, model := range []string{"principal components", "linear", "quadratic"} {
		assert.Regexp(t, "(?m)^"+model+" .*[0-9]$", out)
	}
	for _, picture := range pictures {
		f, err := os.Open(p.path("new/out/" + picture.name))
		require.NoError(t, err)
		defer f.Close()
		img, err := png.Decode(f)
		require.NoError(t, err, picture.name)
		assert.InDelta(t, 1250, img.Bounds().Dx(), 75)
		assert.Regexp(t, "(?m)^wrote .*/"+regexp.QuoteMeta(picture.name)+"$", out)
	}
}

func TestDemoHoldsDigitsBack(t *testing.T) {
	m := bowl(3, demoSide*demoSide)
	m.Rows, m.Data = 3*120, append(append(append(m.Data[:0:0], m.Data...), m.Data...), m.Data...)
	for len(m.Data) < m.Rows*m.Cols {
		m.Data = append(m.Data, m.Row(0)...)
	}
	var labels []string
	for range 120 {
		labels = append(labels, "4", "5", "9")
	}
	digits, err := newDemoDigits(m, labels)
	require.NoError(t, err)
	assert.Equal(t, []int{100, 140}, []int{digits.learned.N, digits.held.N})
	assert.Equal(t, []string{"4", "9", "4"}, digits.kinds[:3])
	assert.Equal(t, m.Row(2), digits.learned.Row(1))
	assert.Equal(t, m.Row(150), digits.held.Row(0))

	_, err = newDemoDigits(m, labels[1:])
	require.ErrorIs(t, err, errUsage)
}

// Models of images without anything on them leave nothing to draw, which must
// not matter.
func TestPicturesOfNothing(t *testing.T) {
	blank := demoDigits{learned: scqm.Data{N: 100, D: demoSide * demoSide}}
	blank.learned.X = make([]float64, blank.learned.N*blank.learned.D)
	for i := range blank.learned.N {
		blank.kinds = append(blank.kinds, demoKinds[i%2])
	}
	blank.held = blank.learned
	cmd := demoCommand()
	cmd.SetContext(t.Context())
	study, err := newDemoStudy(cmd, &blank)
	require.NoError(t, err)
	for _, picture := range pictures {
		assert.NotPanics(t, func() { picture.draw(study) }, picture.name)
	}
}

func TestMeanDistance(t *testing.T) {
	x := scqm.Data{N: 2, D: 2, X: []float64{0, 0, 1, 1}}
	assert.Equal(t, 3.5, meanDistance(x, []float64{3, 4, 1, 3}))
}
