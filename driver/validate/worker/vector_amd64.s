#include "textflag.h"

// func vectorChains(state *vectorState, rounds int)
// SSE2 only, which every amd64 has. Each round is eight multiplications and
// eight additions, in eight independent chains.
TEXT ·vectorChains(SB), NOSPLIT, $0-16
	MOVQ   state+0(FP), AX
	MOVQ   rounds+8(FP), CX
	MOVUPD 0(AX), X0
	MOVUPD 16(AX), X1
	MOVUPD 32(AX), X2
	MOVUPD 48(AX), X3
	MOVUPD 64(AX), X4
	MOVUPD 80(AX), X5
	MOVUPD 96(AX), X6
	MOVUPD 112(AX), X7
	MOVUPD 128(AX), X8
	MOVUPD 144(AX), X9

loop:
	MULPD X8, X0
	MULPD X8, X1
	MULPD X8, X2
	MULPD X8, X3
	MULPD X8, X4
	MULPD X8, X5
	MULPD X8, X6
	MULPD X8, X7
	ADDPD X9, X0
	ADDPD X9, X1
	ADDPD X9, X2
	ADDPD X9, X3
	ADDPD X9, X4
	ADDPD X9, X5
	ADDPD X9, X6
	ADDPD X9, X7
	DECQ  CX
	JNZ   loop
	MOVUPD X0, 0(AX)
	MOVUPD X1, 16(AX)
	MOVUPD X2, 32(AX)
	MOVUPD X3, 48(AX)
	MOVUPD X4, 64(AX)
	MOVUPD X5, 80(AX)
	MOVUPD X6, 96(AX)
	MOVUPD X7, 112(AX)
	RET
