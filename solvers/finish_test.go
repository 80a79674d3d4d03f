package solvers

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/scqm/scqm/framework/latent"
)

// The last stage of large systems is solved further than others, but not in trials.
func TestLastStageOfLargeSystems(t *testing.T) {
	state := func(outer, trial int, eps float64) *PrimalDualState {
		return &PrimalDualState{Scale: 1, Eps: eps, Trial: trial, schur: &schur{ArrowheadShape: latent.ArrowheadShape{Outer: outer}}}
	}
	assert.Equal(t, lastGain, state(100, 0, lastRounding).stageGain())
	assert.Equal(t, stageGain, state(100, 0, 2*lastRounding).stageGain())
	assert.Equal(t, stageGain, state(smallOuter, 0, lastRounding).stageGain())
	assert.Equal(t, trialStageGain, state(100, 1, lastRounding).stageGain())
}
