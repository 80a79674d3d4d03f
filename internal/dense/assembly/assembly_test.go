package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The kernels in the tree are those that are generated.
func TestKernelsAreThoseInTheTree(t *testing.T) {
	for name, k := range kernels {
		var text bytes.Buffer
		output = &text
		k.write()
		want, err := os.ReadFile(k.file)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, text.Bytes()), "%s is another: run go generate", name)
	}
}
