#include "textflag.h"

// Rounds take 8 numbers of every column. Products are rounded before they are added, so
// that bits are those of plain Go.

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
