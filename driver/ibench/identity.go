package ibench

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
)

// startTicks returns when the process started, in clock ticks since boot:
// field 22 of /proc/PID/stat (proc(5)). The command name before it may hold
// spaces and brackets, so fields are counted from its last bracket.
func startTicks(root string, pid int) (uint64, error) {
	text, err := readText(filepath.Join(root, "proc", strconv.Itoa(pid), "stat"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	if err != nil {
		return 0, fmt.Errorf("process %d: %w", pid, err)
	}
	const fieldsAfterName = 19 // field 22, counted from field 3
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) <= fieldsAfterName {
		return 0, fmt.Errorf("process %d: its stat line is too short", pid)
	}
	ticks, err := strconv.ParseUint(fields[fieldsAfterName], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("process %d: start time: %w", pid, err)
	}
	return ticks, nil
}

// bootID names the running boot of the machine.
func bootID(root string) (string, error) {
	id, err := readText(filepath.Join(root, "proc/sys/kernel/random/boot_id"))
	if err != nil {
		return "", fmt.Errorf("boot id: %w", err)
	}
	return id, nil
}

// identify returns nil if the process of the state still runs under its id.
func identify(root string, state State) error {
	boot, err := bootID(root)
	if err != nil {
		return err
	}
	if boot != state.BootID {
		return fmt.Errorf("process %d: %w: the machine was restarted", state.PID, ErrGone)
	}
	ticks, err := startTicks(root, state.PID)
	if err != nil {
		return err
	}
	if ticks != state.StartTicks {
		return fmt.Errorf("process %d: %w", state.PID, ErrRecycled)
	}
	return nil
}
