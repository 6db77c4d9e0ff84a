package protocol_test

import (
	"flag"
	"testing"

	"github.com/nomad-placer/nomad-placer/e2e/wiretest"
	"github.com/nomad-placer/nomad-placer/placer/autoscaler/protocol"
)

var update = flag.Bool("update", false, "write the golden file anew")

// TestWireIsGolden: e2e/autoscaler/protocol compares the file with the autoscaler's own protocol.
func TestWireIsGolden(t *testing.T) {
	t.Parallel()
	wiretest.Golden(t, *update, protocol.File_placer_autoscaler_protocol_apm_proto, protocol.File_placer_autoscaler_protocol_base_proto,
		protocol.File_placer_autoscaler_protocol_shared_proto, protocol.File_placer_autoscaler_protocol_target_proto)
}
