package trace

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// cut splits a line at runs of blanks and tabs, into cells, without allocating; what is
// behind the last cell stays in it.
func cut(line []byte, cells [][]byte) int {
	n := 0
	for n < len(cells) {
		line = bytes.TrimLeft(line, " \t")
		if len(line) == 0 {
			return n
		}
		end := bytes.IndexAny(line, " \t")
		if end < 0 || n == len(cells)-1 {
			end = len(line)
		}
		cells[n] = line[:end]
		line = line[end:]
		n++
	}
	return n
}

// number reads digits only.
func number(cell []byte) (int64, bool) {
	if len(cell) == 0 || len(cell) > 19 {
		return 0, false
	}
	var v int64
	for _, c := range cell {
		if c < '0' || c > '9' || v > (math.MaxInt64-9)/10 {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	return v, true
}

// longest is the longest time a trace may last, 146 years: the distance of two such times
// is still a time.Duration.
const longest = time.Duration(math.MaxInt64 / 2)

// seconds reads a decimal number of seconds, to the nanosecond.
func seconds(cell []byte) (time.Duration, bool) {
	whole, fraction, point := bytes.Cut(cell, []byte("."))
	s, ok := number(whole)
	if !ok || s > int64(longest/time.Second)-1 {
		return 0, false
	}
	if !point {
		return time.Duration(s) * time.Second, true
	}
	if len(fraction) > 9 {
		fraction = fraction[:9]
	}
	f, ok := number(fraction)
	if !ok {
		return 0, false
	}
	for range 9 - len(fraction) {
		f *= 10
	}
	return time.Duration(s)*time.Second + time.Duration(f), true
}

// microseconds reads a whole number of microseconds.
func microseconds(cell []byte) (time.Duration, bool) {
	us, ok := number(cell)
	if !ok || us > int64(longest/time.Microsecond) {
		return 0, false
	}
	return time.Duration(us) * time.Microsecond, true
}

// hexadecimal reads a byte of two digits.
func hexadecimal(cell []byte) (byte, bool) {
	v, err := strconv.ParseUint(string(cell), 16, 8)
	return byte(v), err == nil
}
