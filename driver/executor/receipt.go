package executor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/nomad-placer/nomad-placer/profiler"
)

// Build is the checksum of the program that runs. The file is read once, by the name under which the
// kernel keeps it: another one may have been put in its place since.
var Build = sync.OnceValues(func() (string, error) {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return "", fmt.Errorf("this program: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("this program: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
})

// leaveReceipt says in a directory of results that the result is final.
func leaveReceipt(dir string, result []byte) error {
	build, err := Build()
	if err == nil {
		err = writeJSON(filepath.Join(dir, profiler.ReceiptFile), profiler.NewReceipt(build, result))
	}
	if err != nil {
		return fmt.Errorf("leave the receipt: %w", err)
	}
	return nil
}

// leaveResult leaves a result and its receipt.
func leaveResult(dir, file string, result any) error {
	path := filepath.Join(dir, file)
	if err := writeJSON(path, result); err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return leaveReceipt(dir, data)
}
