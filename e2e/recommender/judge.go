package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// judging is a run that writes the page.
type judging struct {
	page, work, data string
	seeds            int
	kept             bool
}

func (j judging) run(ctx context.Context) error {
	if j.seeds < 2 {
		return errors.New("-seeds must be at least 2: the spread of the draws is on the page")
	}
	if err := os.MkdirAll(j.work, 0o755); err != nil {
		return err
	}
	trees, err := startTrees(ctx)
	if err != nil {
		return err
	}
	s := study{data: j.data, work: j.work, trees: trees, kept: j.kept, log: os.Stderr, now: time.Now}
	for i := range j.seeds {
		s.seeds = append(s.seeds, uint64(i+1))
	}
	result, err := s.run(ctx)
	if err := errors.Join(err, trees.close()); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := write(&text, result, made{
		When: time.Now().UTC().Format("2006-01-02"), Machine: machine(), Command: "make predictions", Version: runtime.Version() + revision(), Seeds: s.seeds,
	}); err != nil {
		return err
	}
	return os.WriteFile(j.page, text.Bytes(), 0o644)
}

// machine is the number and the name of the CPUs.
func machine() string {
	name := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				name = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%d CPUs (%s)", runtime.NumCPU(), name)
}

// revision of the program, where it was built with one.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return ", commit " + s.Value[:12]
		}
	}
	return ""
}
