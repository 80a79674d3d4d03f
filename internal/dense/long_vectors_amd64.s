#include "textflag.h"

// All read 16 or 32 numbers of each vector in a round, then 4, then one. Products are
// rounded before they are added, so that bits are those of plain Go. Inner products wait
// for the sums of the round before: wider instructions gain nothing there.

// func innerProductWide(x, y []float64) float64
TEXT ·innerProductWide(SB), NOSPLIT, $0-56
	MOVQ x_base+0(FP), SI
	MOVQ x_len+8(FP), CX
	MOVQ y_base+24(FP), DI
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	SUBQ $16, CX
	JLT fours

sixteen:
	VMOVUPD (SI), Y4
	VMOVUPD 32(SI), Y5
	VMOVUPD 64(SI), Y6
	VMOVUPD 96(SI), Y7
	VMULPD (DI), Y4, Y4
	VADDPD Y4, Y0, Y0
	VMULPD 32(DI), Y5, Y5
	VADDPD Y5, Y1, Y1
	VMULPD 64(DI), Y6, Y6
	VADDPD Y6, Y2, Y2
	VMULPD 96(DI), Y7, Y7
	VADDPD Y7, Y3, Y3
	ADDQ $128, SI
	ADDQ $128, DI
	SUBQ $16, CX
	JGE sixteen

fours:
	ADDQ $12, CX
	JLT add

four:
	VMOVUPD (SI), Y4
	VMULPD (DI), Y4, Y4
	VADDPD Y4, Y0, Y0
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $4, CX
	JGE four

add:
	ADDQ $4, CX
	VADDPD Y1, Y0, Y0
	VADDPD Y3, Y2, Y2
	VADDPD Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPD X1, X0, X0
	VHADDPD X0, X0, X0
	TESTQ CX, CX
	JEQ done

one:
	VMOVSD (SI), X4
	VMULSD (DI), X4, X4
	VADDSD X4, X0, X0
	ADDQ $8, SI
	ADDQ $8, DI
	DECQ CX
	JNE one

done:
	VMOVSD X0, ret+48(FP)
	VZEROUPPER
	RET

// func addScaledWide(dst []float64, factor float64, x []float64)
TEXT ·addScaledWide(SB), NOSPLIT, $0-56
	MOVQ dst_base+0(FP), DI
	VBROADCASTSD factor+24(FP), Y0
	MOVQ x_base+32(FP), SI
	MOVQ x_len+40(FP), CX
	SUBQ $16, CX
	JLT fours

sixteen:
	VMOVUPD (DI), Y4
	VMOVUPD 32(DI), Y5
	VMOVUPD 64(DI), Y6
	VMOVUPD 96(DI), Y7
	VMULPD (SI), Y0, Y8
	VADDPD Y8, Y4, Y4
	VMULPD 32(SI), Y0, Y9
	VADDPD Y9, Y5, Y5
	VMULPD 64(SI), Y0, Y10
	VADDPD Y10, Y6, Y6
	VMULPD 96(SI), Y0, Y11
	VADDPD Y11, Y7, Y7
	VMOVUPD Y4, (DI)
	VMOVUPD Y5, 32(DI)
	VMOVUPD Y6, 64(DI)
	VMOVUPD Y7, 96(DI)
	ADDQ $128, SI
	ADDQ $128, DI
	SUBQ $16, CX
	JGE sixteen

fours:
	ADDQ $12, CX
	JLT rest

four:
	VMOVUPD (DI), Y4
	VMULPD (SI), Y0, Y8
	VADDPD Y8, Y4, Y4
	VMOVUPD Y4, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $4, CX
	JGE four

rest:
	ADDQ $4, CX
	JEQ done

one:
	VMOVSD (DI), X4
	VMULSD (SI), X0, X8
	VADDSD X8, X4, X4
	VMOVSD X4, (DI)
	ADDQ $8, SI
	ADDQ $8, DI
	DECQ CX
	JNE one

done:
	VZEROUPPER
	RET
