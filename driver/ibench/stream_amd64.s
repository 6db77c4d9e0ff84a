#include "textflag.h"

// func storeNontemporal(p unsafe.Pointer, bytes int)
TEXT ·storeNontemporal(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), DI
	MOVQ bytes+8(FP), CX
	MOVQ CX, AX

line:
	// All eight words of a line: then it goes to memory in one piece and is
	// never fetched.
	MOVNTIQ AX, 0(DI)
	MOVNTIQ AX, 8(DI)
	MOVNTIQ AX, 16(DI)
	MOVNTIQ AX, 24(DI)
	MOVNTIQ AX, 32(DI)
	MOVNTIQ AX, 40(DI)
	MOVNTIQ AX, 48(DI)
	MOVNTIQ AX, 56(DI)
	ADDQ    $64, DI
	SUBQ    $64, CX
	JNZ     line
	SFENCE
	RET
