package guard

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMessage(t *testing.T) {
	for _, p := range []Program{
		{Path: "/a b", Dir: "/c", Args: []string{"x"}},
		{Path: "/a", Dir: "/c", Args: []string{"x", "", "-y"}, Env: []string{"A=1", "", "B=\n"}},
	} {
		message := encode(p, 17)
		got, host, ok := decode(message[4:])
		assert.True(t, ok)
		assert.Equal(t, 17, host)
		assert.Equal(t, append([]string{got.Path, got.Dir}, append(got.Args, got.Env...)...),
			append([]string{p.Path, p.Dir}, append(p.Args, p.Env...)...))
		assert.Len(t, got.Args, len(p.Args))
	}
	for _, damaged := range []string{"", "\x00", "1\x00/a\x00/\x00", "1\x00/a\x00/\x002\x00x\x00", "1\x00/a\x00/\x000\x00x\x00", "x\x00/a\x00/\x001\x00x\x00"} {
		_, _, ok := decode([]byte(damaged))
		assert.False(t, ok, "%q", damaged)
	}
}
