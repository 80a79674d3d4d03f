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
	for _, op := range []string{"fadd", "fsub", "fmul", "fdiv", "fabd", "fmaxnm", "fcmge", "fcmgt", "faddp", "bic"} {
		both(op, d, n, m)
	}
	for _, op := range []string{"fabs", "fneg", "fsqrt", "fcmeq 0", "mvn"} {
		ofOne(op, d, n)
	}
	for _, op := range []string{"fmul", "fmla"} {
		byLane(op, d, n, m, 0)
		byLane(op, d, n, m, 1)
	}
	toOne("faddp", d, n)
	toOne("fmaxnmp", d, n)
	assert.Equal(t, `	WORD $0x4e7fd641 // fadd v1.2d, v18.2d, v31.2d
	WORD $0x4effd641 // fsub v1.2d, v18.2d, v31.2d
	WORD $0x6e7fde41 // fmul v1.2d, v18.2d, v31.2d
	WORD $0x6e7ffe41 // fdiv v1.2d, v18.2d, v31.2d
	WORD $0x6effd641 // fabd v1.2d, v18.2d, v31.2d
	WORD $0x4e7fc641 // fmaxnm v1.2d, v18.2d, v31.2d
	WORD $0x6e7fe641 // fcmge v1.2d, v18.2d, v31.2d
	WORD $0x6effe641 // fcmgt v1.2d, v18.2d, v31.2d
	WORD $0x6e7fd641 // faddp v1.2d, v18.2d, v31.2d
	WORD $0x4e7f1e41 // bic v1.16b, v18.16b, v31.16b
	WORD $0x4ee0fa41 // fabs v1.2d, v18.2d
	WORD $0x6ee0fa41 // fneg v1.2d, v18.2d
	WORD $0x6ee1fa41 // fsqrt v1.2d, v18.2d
	WORD $0x4ee0da41 // fcmeq v1.2d, v18.2d, #0.0
	WORD $0x6e205a41 // mvn v1.16b, v18.16b
	WORD $0x4fdf9241 // fmul v1.2d, v18.2d, v31.d[0]
	WORD $0x4fdf9a41 // fmul v1.2d, v18.2d, v31.d[1]
	WORD $0x4fdf1241 // fmla v1.2d, v18.2d, v31.d[0]
	WORD $0x4fdf1a41 // fmla v1.2d, v18.2d, v31.d[1]
	WORD $0x7e70da41 // faddp d1, v18.2d
	WORD $0x7e70ca41 // fmaxnmp d1, v18.2d
`, text.String())
	assert.Len(t, words, 19)
}
