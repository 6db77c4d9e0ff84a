package driver

import (
	"os"
	"testing"
)

// The driver starts its own program as the process of a task and of a kernel;
// in tests that program is the test binary.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "task" || os.Args[1] == "kernel" || os.Args[1] == "awake") {
		os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}
