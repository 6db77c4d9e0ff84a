package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// errNiceSession: the kernel schedules the processes of a session as one group (sched(7),
// "The autogroup feature"). The jobs have control groups of their own; the requests of this
// program to their metrics would come late, and jobs count as missed that met their targets.
var errNiceSession = errors.New("this session runs at a lower priority than the jobs it is to measure: start it anew, for example with setsid")

// checkNiceness refuses to measure from a session whose scheduling group has a positive nice
// value. A kernel without such groups has no file.
func checkNiceness(file string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("scheduling group of this session: %w", err)
	}
	_, value, _ := strings.Cut(string(text), "nice")
	nice, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil {
		return fmt.Errorf("scheduling group of this session: %s: %q is no nice value", file, text)
	}
	if nice > 0 {
		return fmt.Errorf("%w (%s says nice %d)", errNiceSession, file, nice)
	}
	return nil
}
