//go:build race

package denoise

// underRace tells that the race detector slows everything down ten times.
const underRace = true
