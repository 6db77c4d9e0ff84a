package worker

import "encoding/binary"

const haveCode = true

// The instructions of a block: seven no-operations of eight bytes (the
// recommended form of the processor manuals) and a jump with a 32-bit distance.
const (
	jumpNear = 0xe9
	ret      = 0xc3
	nopBytes = 8
	nops     = 7
)

var nop = [nopBytes]byte{0x0f, 0x1f, 0x84}

// writeBlock fills one cache line with code that goes on at distance bytes
// from its start, or returns.
func writeBlock(line []byte, distance int, last bool) {
	for i := range nops {
		copy(line[i*nopBytes:], nop[:])
	}
	at := nops * nopBytes
	if last {
		line[at] = ret
		return
	}
	line[at] = jumpNear
	// The distance counts from the end of the jump.
	binary.LittleEndian.PutUint32(line[at+1:], uint32(int32(distance-at-5)))
}
