#include "textflag.h"

// All take 16 numbers of each vector in a round, then 4, then one.

// func productsWide(dst, x, y []float64)
TEXT ·productsWide(SB), NOSPLIT, $0-72
	MOVQ dst_base+0(FP), DI
	MOVQ x_base+24(FP), SI
	MOVQ x_len+32(FP), CX
	MOVQ y_base+48(FP), DX
	SUBQ $16, CX
	JLT fours

sixteen:
	VMOVUPD (SI), Y0
	VMULPD (DX), Y0, Y0
	VMOVUPD Y0, (DI)
	VMOVUPD 32(SI), Y1
	VMULPD 32(DX), Y1, Y1
	VMOVUPD Y1, 32(DI)
	VMOVUPD 64(SI), Y2
	VMULPD 64(DX), Y2, Y2
	VMOVUPD Y2, 64(DI)
	VMOVUPD 96(SI), Y3
	VMULPD 96(DX), Y3, Y3
	VMOVUPD Y3, 96(DI)
	ADDQ $128, SI
	ADDQ $128, DX
	ADDQ $128, DI
	SUBQ $16, CX
	JGE sixteen

fours:
	ADDQ $12, CX
	JLT rest

four:
	VMOVUPD (SI), Y0
	VMULPD (DX), Y0, Y0
	VMOVUPD Y0, (DI)
	ADDQ $32, SI
	ADDQ $32, DX
	ADDQ $32, DI
	SUBQ $4, CX
	JGE four

rest:
	ADDQ $4, CX
	JEQ done

one:
	VMOVSD (SI), X0
	VMULSD (DX), X0, X0
	VMOVSD X0, (DI)
	ADDQ $8, SI
	ADDQ $8, DX
	ADDQ $8, DI
	DECQ CX
	JNE one

done:
	VZEROUPPER
	RET

// func magnitudesWide(dst, x []float64)
TEXT ·magnitudesWide(SB), NOSPLIT, $0-48
	MOVQ dst_base+0(FP), DI
	MOVQ x_base+24(FP), SI
	MOVQ x_len+32(FP), CX
	VPCMPEQQ Y15, Y15, Y15
	VPSRLQ $1, Y15, Y15
	SUBQ $16, CX
	JLT fours

sixteen:
	VMOVUPD (SI), Y0
	VANDPD Y15, Y0, Y0
	VMOVUPD Y0, (DI)
	VMOVUPD 32(SI), Y1
	VANDPD Y15, Y1, Y1
	VMOVUPD Y1, 32(DI)
	VMOVUPD 64(SI), Y2
	VANDPD Y15, Y2, Y2
	VMOVUPD Y2, 64(DI)
	VMOVUPD 96(SI), Y3
	VANDPD Y15, Y3, Y3
	VMOVUPD Y3, 96(DI)
	ADDQ $128, SI
	ADDQ $128, DI
	SUBQ $16, CX
	JGE sixteen

fours:
	ADDQ $12, CX
	JLT rest

four:
	VMOVUPD (SI), Y0
	VANDPD Y15, Y0, Y0
	VMOVUPD Y0, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $4, CX
	JGE four

rest:
	ADDQ $4, CX
	JEQ done

one:
	VMOVSD (SI), X0
	VANDPD X15, X0, X0
	VMOVSD X0, (DI)
	ADDQ $8, SI
	ADDQ $8, DI
	DECQ CX
	JNE one

done:
	VZEROUPPER
	RET

// func rootsWide(dst, x []float64)
TEXT ·rootsWide(SB), NOSPLIT, $0-48
	MOVQ dst_base+0(FP), DI
	MOVQ x_base+24(FP), SI
	MOVQ x_len+32(FP), CX
	SUBQ $16, CX
	JLT fours

sixteen:
	VSQRTPD (SI), Y0
	VMOVUPD Y0, (DI)
	VSQRTPD 32(SI), Y1
	VMOVUPD Y1, 32(DI)
	VSQRTPD 64(SI), Y2
	VMOVUPD Y2, 64(DI)
	VSQRTPD 96(SI), Y3
	VMOVUPD Y3, 96(DI)
	ADDQ $128, SI
	ADDQ $128, DI
	SUBQ $16, CX
	JGE sixteen

fours:
	ADDQ $12, CX
	JLT rest

four:
	VSQRTPD (SI), Y0
	VMOVUPD Y0, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $4, CX
	JGE four

rest:
	ADDQ $4, CX
	JEQ done

one:
	VMOVSD (SI), X0
	VSQRTSD X0, X0, X0
	VMOVSD X0, (DI)
	ADDQ $8, SI
	ADDQ $8, DI
	DECQ CX
	JNE one

done:
	VZEROUPPER
	RET

// func withSignsWide(dst []float64, factor float64, x, y []float64)
TEXT ·withSignsWide(SB), NOSPLIT, $0-80
	MOVQ dst_base+0(FP), DI
	VBROADCASTSD factor+24(FP), Y14
	MOVQ x_base+32(FP), SI
	MOVQ x_len+40(FP), CX
	MOVQ y_base+56(FP), DX
	VPCMPEQQ Y15, Y15, Y15
	VPSRLQ $1, Y15, Y15
	SUBQ $16, CX
	JLT fours

sixteen:
	VMULPD (SI), Y14, Y0
	VANDPD Y15, Y0, Y0
	VMOVUPD (DX), Y4
	VANDNPD Y4, Y15, Y4
	VORPD Y4, Y0, Y0
	VMOVUPD Y0, (DI)
	VMULPD 32(SI), Y14, Y1
	VANDPD Y15, Y1, Y1
	VMOVUPD 32(DX), Y5
	VANDNPD Y5, Y15, Y5
	VORPD Y5, Y1, Y1
	VMOVUPD Y1, 32(DI)
	VMULPD 64(SI), Y14, Y2
	VANDPD Y15, Y2, Y2
	VMOVUPD 64(DX), Y6
	VANDNPD Y6, Y15, Y6
	VORPD Y6, Y2, Y2
	VMOVUPD Y2, 64(DI)
	VMULPD 96(SI), Y14, Y3
	VANDPD Y15, Y3, Y3
	VMOVUPD 96(DX), Y7
	VANDNPD Y7, Y15, Y7
	VORPD Y7, Y3, Y3
	VMOVUPD Y3, 96(DI)
	ADDQ $128, SI
	ADDQ $128, DX
	ADDQ $128, DI
	SUBQ $16, CX
	JGE sixteen

fours:
	ADDQ $12, CX
	JLT rest

four:
	VMULPD (SI), Y14, Y0
	VANDPD Y15, Y0, Y0
	VMOVUPD (DX), Y4
	VANDNPD Y4, Y15, Y4
	VORPD Y4, Y0, Y0
	VMOVUPD Y0, (DI)
	ADDQ $32, SI
	ADDQ $32, DX
	ADDQ $32, DI
	SUBQ $4, CX
	JGE four

rest:
	ADDQ $4, CX
	JEQ done

one:
	VMULSD (SI), X14, X0
	VANDPD X15, X0, X0
	VMOVSD (DX), X4
	VANDNPD X4, X15, X4
	VORPD X4, X0, X0
	VMOVSD X0, (DI)
	ADDQ $8, SI
	ADDQ $8, DX
	ADDQ $8, DI
	DECQ CX
	JNE one

done:
	VZEROUPPER
	RET
