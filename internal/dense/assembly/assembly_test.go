package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The kernels in the tree are those that are generated.
func TestKernelsAreThoseInTheTree(t *testing.T) {
	for file, write := range map[string]func(){
		"../products_amd64.s":            writeProducts,
		"../planes_amd64.s":              writePlanes,
		"../../../losses/smooth_amd64.s": writeSmooth,
		"../../../models/scqm/internal/arrowhead/surface_lanes_amd64.s": writeSurfaces,
		"../../../models/scqm/internal/nearest/surface_feet_amd64.s":    writeFeet,
		"../../../models/scqm/internal/nearest/feet_amd64.s":            writeForms,
		"../../../models/denoise/chart_lanes_amd64.s":                   writeCharts,
		"../../../models/scqm/internal/nearest/absolute_cells_amd64.s":  writeCells,
		"../../../models/scqm/internal/nearest/rounded_sums_amd64.s":    writeRoundedSums,
	} {
		var text bytes.Buffer
		output = &text
		write()
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, text.Bytes()), "%s is another: run go generate", file)
	}
}
