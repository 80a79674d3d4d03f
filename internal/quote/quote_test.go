package quote

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestText(t *testing.T) {
	assert.Equal(t, "", Text(""))
	assert.Equal(t, `"\x1b[2J"`, Text("\x1b[2J"))
	assert.Equal(t, `"`+strings.Repeat("x", maxBytes)+`..."`, Text(strings.Repeat("x", maxBytes+1)))
	assert.Equal(t, `"`+strings.Repeat("x", maxBytes-1)+`..."`, Text(strings.Repeat("x", maxBytes-1)+"é"), "no half of a character")
}

func TestName(t *testing.T) {
	assert.Equal(t, "a b", Name("a b"))
	assert.Equal(t, `""`, Name(""))
	assert.Equal(t, `"a\nb"`, Name("a\nb"))
	assert.Equal(t, `"\xff"`, Name("\xff"))
	assert.Equal(t, `"`+strings.Repeat("x", maxBytes)+`"`, Name(strings.Repeat("x", maxBytes+1)))
}
