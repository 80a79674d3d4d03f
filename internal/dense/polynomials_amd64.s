#include "textflag.h"

// Rounds take 8 numbers of every column. Products are rounded before they are added, so
// that bits are those of plain Go.

// Of signed sums: SI is at a round of the first column, BX at that of a column, R9 the
// bytes of one, DX the factors, Y0 and Y1 values, Y2 their signs, Y3 which are not 0, Y4 to Y13
// the sums, Y14 that of sizes, Y15 the bit of the sign.
#define LOAD \
	MOVQ sums_base+0(FP), DI; \
	MOVQ columns_base+24(FP), SI; \
	MOVQ factors_base+48(FP), DX; \
	MOVQ n+72(FP), R9; \
	MOVQ R9, CX; \
	SHLQ $3, R9; \
	VPCMPEQD X15, X15, X15; \
	VPSLLQ $63, X15, X15; \
	VINSERTF128 $1, X15, Y15, Y15; \
	VXORPD Y14, Y14, Y14

#define CLEAR(sum) VXORPD sum, sum, sum

#define FIRST \
	MOVQ SI, BX; \
	VBROADCASTSD (DX), Y2; \
	VMULPD (BX), Y2, Y0; \
	VMULPD 32(BX), Y2, Y1

#define TERM(at) \
	ADDQ R9, BX; \
	VBROADCASTSD at(DX), Y2; \
	VMULPD (BX), Y2, Y3; \
	VADDPD Y3, Y0, Y0; \
	VMULPD 32(BX), Y2, Y3; \
	VADDPD Y3, Y1, Y1

#define SIGNS(v) \
	MOVQ SI, BX; \
	VANDPD Y15, v, Y2; \
	VXORPD Y3, Y3, Y3; \
	VCMPPD $4, Y3, v, Y3; \
	VXORPD Y2, v, v; \
	VADDPD v, Y14, Y14

#define ADD(at, sum) \
	VANDPD at(BX), Y3, Y0; \
	VXORPD Y2, Y0, Y0; \
	VADDPD Y0, sum, sum; \
	ADDQ R9, BX

#define REDUCE(sum, low) \
	VEXTRACTF128 $1, sum, X0; \
	VADDPD X0, low, low; \
	VHADDPD low, low, low

#define STORE(at, sum, low) \
	REDUCE(sum, low); \
	VMOVSD low, at(DI)

// func combineWide(dst, columns, factors []float64)
TEXT ·combineWide(SB), NOSPLIT, $0-72
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), R9
	MOVQ columns_base+24(FP), SI
	MOVQ factors_base+48(FP), DX
	MOVQ factors_len+56(FP), CX
	SHLQ $3, R9
	XORQ R10, R10

block:
	LEAQ (SI)(R10*1), AX
	MOVQ DX, BX
	MOVQ CX, R11
	VBROADCASTSD (BX), Y2
	VMULPD (AX), Y2, Y0
	VMULPD 32(AX), Y2, Y1
	DECQ R11
	JEQ store

term:
	ADDQ R9, AX
	ADDQ $8, BX
	VBROADCASTSD (BX), Y2
	VMULPD (AX), Y2, Y3
	VADDPD Y3, Y0, Y0
	VMULPD 32(AX), Y2, Y4
	VADDPD Y4, Y1, Y1
	DECQ R11
	JNE term

store:
	VMOVUPD Y0, (DI)(R10*1)
	VMOVUPD Y1, 32(DI)(R10*1)
	ADDQ $64, R10
	CMPQ R10, R9
	JLT block
	VZEROUPPER
	RET

// func addColumnProductsWide(dst []float64, x *float64, xStep int, y *float64, yStep, count int)
TEXT ·addColumnProductsWide(SB), NOSPLIT, $0-64
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ x+24(FP), SI
	MOVQ xStep+32(FP), R8
	MOVQ y+40(FP), DX
	MOVQ yStep+48(FP), R9
	MOVQ count+56(FP), R10
	SHLQ $3, R8
	SHLQ $3, R9

productblock:
	VMOVUPD (DI), Y0
	VMOVUPD 32(DI), Y1
	MOVQ SI, AX
	MOVQ DX, BX
	MOVQ R10, R11

product:
	VMOVUPD (AX), Y2
	VMOVUPD 32(AX), Y3
	VMULPD (BX), Y2, Y2
	VMULPD 32(BX), Y3, Y3
	VADDPD Y2, Y0, Y0
	VADDPD Y3, Y1, Y1
	ADDQ R8, AX
	ADDQ R9, BX
	DECQ R11
	JNE product
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	ADDQ $64, DI
	ADDQ $64, SI
	ADDQ $64, DX
	SUBQ $8, CX
	JNE productblock
	VZEROUPPER
	RET

// func signedSums3Wide(sums, columns, factors []float64, n int) float64
TEXT ·signedSums3Wide(SB), NOSPLIT, $0-88
	LOAD
	CLEAR(Y4)
	CLEAR(Y5)
	CLEAR(Y6)

block:
	FIRST
	TERM(8)
	TERM(16)
	SIGNS(Y0)
	ADD(0, Y4)
	ADD(0, Y5)
	ADD(0, Y6)
	SIGNS(Y1)
	ADD(32, Y4)
	ADD(32, Y5)
	ADD(32, Y6)
	ADDQ $64, SI
	SUBQ $8, CX
	JNE block
	STORE(0, Y4, X4)
	STORE(8, Y5, X5)
	STORE(16, Y6, X6)
	REDUCE(Y14, X14)
	VMOVSD X14, ret+80(FP)
	VZEROUPPER
	RET

// func signedSums6Wide(sums, columns, factors []float64, n int) float64
TEXT ·signedSums6Wide(SB), NOSPLIT, $0-88
	LOAD
	CLEAR(Y4)
	CLEAR(Y5)
	CLEAR(Y6)
	CLEAR(Y7)
	CLEAR(Y8)
	CLEAR(Y9)

block:
	FIRST
	TERM(8)
	TERM(16)
	TERM(24)
	TERM(32)
	TERM(40)
	SIGNS(Y0)
	ADD(0, Y4)
	ADD(0, Y5)
	ADD(0, Y6)
	ADD(0, Y7)
	ADD(0, Y8)
	ADD(0, Y9)
	SIGNS(Y1)
	ADD(32, Y4)
	ADD(32, Y5)
	ADD(32, Y6)
	ADD(32, Y7)
	ADD(32, Y8)
	ADD(32, Y9)
	ADDQ $64, SI
	SUBQ $8, CX
	JNE block
	STORE(0, Y4, X4)
	STORE(8, Y5, X5)
	STORE(16, Y6, X6)
	STORE(24, Y7, X7)
	STORE(32, Y8, X8)
	STORE(40, Y9, X9)
	REDUCE(Y14, X14)
	VMOVSD X14, ret+80(FP)
	VZEROUPPER
	RET

// func signedSums10Wide(sums, columns, factors []float64, n int) float64
TEXT ·signedSums10Wide(SB), NOSPLIT, $0-88
	LOAD
	CLEAR(Y4)
	CLEAR(Y5)
	CLEAR(Y6)
	CLEAR(Y7)
	CLEAR(Y8)
	CLEAR(Y9)
	CLEAR(Y10)
	CLEAR(Y11)
	CLEAR(Y12)
	CLEAR(Y13)

block:
	FIRST
	TERM(8)
	TERM(16)
	TERM(24)
	TERM(32)
	TERM(40)
	TERM(48)
	TERM(56)
	TERM(64)
	TERM(72)
	SIGNS(Y0)
	ADD(0, Y4)
	ADD(0, Y5)
	ADD(0, Y6)
	ADD(0, Y7)
	ADD(0, Y8)
	ADD(0, Y9)
	ADD(0, Y10)
	ADD(0, Y11)
	ADD(0, Y12)
	ADD(0, Y13)
	SIGNS(Y1)
	ADD(32, Y4)
	ADD(32, Y5)
	ADD(32, Y6)
	ADD(32, Y7)
	ADD(32, Y8)
	ADD(32, Y9)
	ADD(32, Y10)
	ADD(32, Y11)
	ADD(32, Y12)
	ADD(32, Y13)
	ADDQ $64, SI
	SUBQ $8, CX
	JNE block
	STORE(0, Y4, X4)
	STORE(8, Y5, X5)
	STORE(16, Y6, X6)
	STORE(24, Y7, X7)
	STORE(32, Y8, X8)
	STORE(40, Y9, X9)
	STORE(48, Y10, X10)
	STORE(56, Y11, X11)
	STORE(64, Y12, X12)
	STORE(72, Y13, X13)
	REDUCE(Y14, X14)
	VMOVSD X14, ret+80(FP)
	VZEROUPPER
	RET
