package main

import (
	"image/png"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
