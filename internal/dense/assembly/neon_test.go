package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Instructions are words that GNU's assembler makes of the names beside them.
func TestWords(t *testing.T) {
	was := output
	defer func() { output = was }()
	var text bytes.Buffer
	output = &text
	const d, n, m = 1, 18, 31
	for _, op := range []string{"fadd", "fsub", "fmul", "faddp"} {
		both(op, d, n, m)
	}
	byLane("fmul", d, n, m, 0)
	byLane("fmul", d, n, m, 1)
	toOne("faddp", d, n)
	assert.Equal(t, `	WORD $0x4e7fd641 // fadd v1.2d, v18.2d, v31.2d
	WORD $0x4effd641 // fsub v1.2d, v18.2d, v31.2d
	WORD $0x6e7fde41 // fmul v1.2d, v18.2d, v31.2d
	WORD $0x6e7fd641 // faddp v1.2d, v18.2d, v31.2d
	WORD $0x4fdf9241 // fmul v1.2d, v18.2d, v31.d[0]
	WORD $0x4fdf9a41 // fmul v1.2d, v18.2d, v31.d[1]
	WORD $0x7e70da41 // faddp d1, v18.2d
`, text.String())
	assert.Len(t, words, 6)
}
