package profiler

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// ReceiptFile is what a run leaves in ResultDir once its result is final, and never before.
const ReceiptFile = "receipt.json"

// ErrTorn: a result is not what its run has left.
var ErrTorn = errors.New("the result is torn")

// Receipt says what a run has left, and which build of the driver has measured it.
type Receipt struct {
	Format   int    `json:"format"`   // RequestFormat
	Build    string `json:"build"`    // checksum of the driver's program
	Checksum string `json:"checksum"` // of the result
}

// NewReceipt is the receipt of a result.
func NewReceipt(build string, result []byte) Receipt {
	return Receipt{Format: RequestFormat, Build: build, Checksum: checksum(result)}
}

// Check refuses a result that is not the receipt's.
func (r Receipt) Check(result []byte) error {
	switch {
	case r.Format != RequestFormat:
		return fmt.Errorf("the receipt has format %d, this release reads %d: run nomad-placer and nomad-driver-ibench of one release", r.Format, RequestFormat)
	case r.Checksum != checksum(result):
		return ErrTorn
	}
	return nil
}

func checksum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
