package plugins

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/plugins/internal/segment"
)

// TestPluginsServeFrames is about those in Go; a plugin that does not is slower
// but as good.
func TestPluginsServeFrames(t *testing.T) {
	p := start(t, "builtin:l2", Options{})
	if !p.segments.Usable() {
		t.Skip("frames need shared memory")
	}
	s, err := p.segments.Borrow(segment.MinBytes)
	require.NoError(t, err)
	defer p.segments.Return(s)
	assert.NotNil(t, s.Conn)
	plain := start(t, "hostile:none", Options{Env: []string{withoutFrames + "=1"}})
	values := make([]float64, 2)
	require.NoError(t, plain.Loss().Evaluate(values, nil, []float64{3, 4, 0, 1}, 2))
	assert.Equal(t, []float64{5, 1}, values)
}
