package solvers

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/scqm/scqm/framework/latent"
)

// The last stage of large systems is solved further than others.
func TestLastStageOfLargeSystems(t *testing.T) {
	state := func(outer int, eps float64) *PrimalDualState {
		return &PrimalDualState{Scale: 1, Eps: eps, schur: &schur{ArrowheadShape: latent.ArrowheadShape{Outer: outer}}}
	}
	assert.Equal(t, lastGain, state(100, lastRounding).stageGain())
	assert.Equal(t, stageGain, state(100, 2*lastRounding).stageGain())
	assert.Equal(t, stageGain, state(smallOuter, lastRounding).stageGain())
}
