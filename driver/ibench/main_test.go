package ibench

import (
	"os"
	"testing"
)

// TestMain lets the test binary be its own kernel process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "kernel" {
		os.Exit(KernelMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "awake" {
		os.Exit(AwakeMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "parent" {
		os.Exit(parentMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}
