#include "textflag.h"

// func callCode(entry uintptr, state *codeState)
//
// The code called returns with RET, uses no stack, and may change AX, BX, CX,
// DX, SI and DI only. It gets state in DI.
TEXT ·callCode(SB), NOSPLIT, $8-16
	MOVQ entry+0(FP), AX
	MOVQ state+8(FP), DI
	CALL AX
	RET

// func cpuid(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-24
	MOVL leaf+0(FP), AX
	MOVL subleaf+4(FP), CX
	CPUID
	MOVL AX, eax+8(FP)
	MOVL BX, ebx+12(FP)
	MOVL CX, ecx+16(FP)
	MOVL DX, edx+20(FP)
	RET

// Eight chains of four operations each. Half of them multiply and half shift:
// both are done by one or two units only, which would be the limit if every
// chain did.
#define MULTIPLY(r) \
	ADDQ  R12, r; \
	IMULQ R13, r; \
	XORQ  R12, r; \
	SUBQ  R13, r

#define SHIFT(r) \
	ADDQ R12, r;  \
	MOVQ r, R11;  \
	SHRQ $7, R11; \
	XORQ R11, r;  \
	ADDQ R13, r

#define INTEGERS \
	MULTIPLY(AX) \
	SHIFT(BX)    \
	MULTIPLY(CX) \
	SHIFT(DX)    \
	MULTIPLY(SI) \
	SHIFT(R8)    \
	MULTIPLY(R9) \
	SHIFT(R10)

// func integerRounds(chain *[8]uint64, rounds int)
TEXT ·integerRounds(SB), NOSPLIT, $0-16
	MOVQ chain+0(FP), DI
	MOVQ $0x9e3779b9, R12
	MOVQ $0x2545f491, R13
	MOVQ 0(DI), AX
	MOVQ 8(DI), BX
	MOVQ 16(DI), CX
	MOVQ 24(DI), DX
	MOVQ 32(DI), SI
	MOVQ 40(DI), R8
	MOVQ 48(DI), R9
	MOVQ 56(DI), R10
	MOVQ rounds+8(FP), DI

integerLoop:
	INTEGERS
	DECQ DI
	JNZ  integerLoop
	MOVQ chain+0(FP), DI
	MOVQ AX, 0(DI)
	MOVQ BX, 8(DI)
	MOVQ CX, 16(DI)
	MOVQ DX, 24(DI)
	MOVQ SI, 32(DI)
	MOVQ R8, 40(DI)
	MOVQ R9, 48(DI)
	MOVQ R10, 56(DI)
	RET

// Twelve chains: x/2 + 3/4, then 3x/4 + 3/8. A pair takes six to eight cycles
// on current cores, which start up to four such operations per cycle.
#define FLOAT(r)    \
	MULSD X12, r; \
	ADDSD X13, r

#define FLOAT2(r)   \
	MULSD X14, r; \
	ADDSD X15, r

#define FLOATS(f) \
	f(X0)     \
	f(X1)     \
	f(X2)     \
	f(X3)     \
	f(X4)     \
	f(X5)     \
	f(X6)     \
	f(X7)     \
	f(X8)     \
	f(X9)     \
	f(X10)    \
	f(X11)

// func floatRounds(chain *[12]float64, rounds int)
TEXT ·floatRounds(SB), NOSPLIT, $0-16
	MOVQ  chain+0(FP), DI
	MOVQ  rounds+8(FP), CX
	MOVSD $0.5, X12
	MOVSD $0.75, X13
	MOVSD $0.75, X14
	MOVSD $0.375, X15
	MOVSD 0(DI), X0
	MOVSD 8(DI), X1
	MOVSD 16(DI), X2
	MOVSD 24(DI), X3
	MOVSD 32(DI), X4
	MOVSD 40(DI), X5
	MOVSD 48(DI), X6
	MOVSD 56(DI), X7
	MOVSD 64(DI), X8
	MOVSD 72(DI), X9
	MOVSD 80(DI), X10
	MOVSD 88(DI), X11

floatLoop:
	FLOATS(FLOAT)
	FLOATS(FLOAT2)
	DECQ  CX
	JNZ   floatLoop
	MOVSD X0, 0(DI)
	MOVSD X1, 8(DI)
	MOVSD X2, 16(DI)
	MOVSD X3, 24(DI)
	MOVSD X4, 32(DI)
	MOVSD X5, 40(DI)
	MOVSD X6, 48(DI)
	MOVSD X7, 56(DI)
	MOVSD X8, 64(DI)
	MOVSD X9, 72(DI)
	MOVSD X10, 80(DI)
	MOVSD X11, 88(DI)
	PXOR  X15, X15 // zero in Go's calling convention
	RET

// func vectorRoundsFMA(lanes *[48]float64, rounds int)
//
// Twelve chains of fused multiply-add on four lanes each: x/2 + 3/4.
#define FMA(r) VFMADD213PD Y13, Y12, r

TEXT ·vectorRoundsFMA(SB), NOSPLIT, $0-16
	MOVQ         lanes+0(FP), DI
	MOVQ         rounds+8(FP), CX
	MOVQ         $0x3fe0000000000000, AX // 0.5
	MOVQ         AX, X12
	VBROADCASTSD X12, Y12
	MOVQ         $0x3fe8000000000000, AX // 0.75
	MOVQ         AX, X13
	VBROADCASTSD X13, Y13
	VMOVUPD      0(DI), Y0
	VMOVUPD      32(DI), Y1
	VMOVUPD      64(DI), Y2
	VMOVUPD      96(DI), Y3
	VMOVUPD      128(DI), Y4
	VMOVUPD      160(DI), Y5
	VMOVUPD      192(DI), Y6
	VMOVUPD      224(DI), Y7
	VMOVUPD      256(DI), Y8
	VMOVUPD      288(DI), Y9
	VMOVUPD      320(DI), Y10
	VMOVUPD      352(DI), Y11

fmaLoop:
	FMA(Y0)
	FMA(Y1)
	FMA(Y2)
	FMA(Y3)
	FMA(Y4)
	FMA(Y5)
	FMA(Y6)
	FMA(Y7)
	FMA(Y8)
	FMA(Y9)
	FMA(Y10)
	FMA(Y11)
	FMA(Y0)
	FMA(Y1)
	FMA(Y2)
	FMA(Y3)
	FMA(Y4)
	FMA(Y5)
	FMA(Y6)
	FMA(Y7)
	FMA(Y8)
	FMA(Y9)
	FMA(Y10)
	FMA(Y11)
	DECQ       CX
	JNZ        fmaLoop
	VMOVUPD    Y0, 0(DI)
	VMOVUPD    Y1, 32(DI)
	VMOVUPD    Y2, 64(DI)
	VMOVUPD    Y3, 96(DI)
	VMOVUPD    Y4, 128(DI)
	VMOVUPD    Y5, 160(DI)
	VMOVUPD    Y6, 192(DI)
	VMOVUPD    Y7, 224(DI)
	VMOVUPD    Y8, 256(DI)
	VMOVUPD    Y9, 288(DI)
	VMOVUPD    Y10, 320(DI)
	VMOVUPD    Y11, 352(DI)
	VZEROUPPER
	RET

// func vectorRoundsSSE2(lanes *[48]float64, rounds int)
//
// The same on two lanes each, with a multiplication and an addition each.
#define MULADD(r)    \
	MULPD X12, r; \
	ADDPD X13, r

TEXT ·vectorRoundsSSE2(SB), NOSPLIT, $0-16
	MOVQ     lanes+0(FP), DI
	MOVQ     rounds+8(FP), CX
	MOVQ     $0x3fe0000000000000, AX // 0.5
	MOVQ     AX, X12
	UNPCKLPD X12, X12
	MOVQ     $0x3fe8000000000000, AX // 0.75
	MOVQ     AX, X13
	UNPCKLPD X13, X13
	MOVUPD   0(DI), X0
	MOVUPD   16(DI), X1
	MOVUPD   32(DI), X2
	MOVUPD   48(DI), X3
	MOVUPD   64(DI), X4
	MOVUPD   80(DI), X5
	MOVUPD   96(DI), X6
	MOVUPD   112(DI), X7
	MOVUPD   128(DI), X8
	MOVUPD   144(DI), X9
	MOVUPD   160(DI), X10
	MOVUPD   176(DI), X11

sse2Loop:
	FLOATS(MULADD)
	DECQ   CX
	JNZ    sse2Loop
	MOVUPD X0, 0(DI)
	MOVUPD X1, 16(DI)
	MOVUPD X2, 32(DI)
	MOVUPD X3, 48(DI)
	MOVUPD X4, 64(DI)
	MOVUPD X5, 80(DI)
	MOVUPD X6, 96(DI)
	MOVUPD X7, 112(DI)
	MOVUPD X8, 128(DI)
	MOVUPD X9, 144(DI)
	MOVUPD X10, 160(DI)
	MOVUPD X11, 176(DI)
	RET
