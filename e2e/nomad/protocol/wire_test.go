// Package protocol compares the driver's own protocol with Nomad's.
package protocol

import (
	"testing"

	_ "github.com/hashicorp/nomad/plugins/base/proto"
	_ "github.com/hashicorp/nomad/plugins/drivers/proto"
	_ "github.com/hashicorp/nomad/plugins/shared/hclspec"
	_ "github.com/hashicorp/nomad/plugins/shared/structs/proto"
)

// TestNomadSpeaksTheSame: every method, field and value of ours is Nomad's, with the same
// number and type.
func TestNomadSpeaksTheSame(t *testing.T) {
	t.Parallel()
	compareWire(t, "../../../driver/protocol/testdata/wire.golden", 200)
}
