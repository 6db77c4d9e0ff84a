package protocol_test

import (
	"flag"
	"testing"

	"github.com/nomad-placer/nomad-placer/driver/protocol"
	"github.com/nomad-placer/nomad-placer/e2e/wiretest"
)

var update = flag.Bool("update", false, "write the golden file anew")

// TestWireIsGolden: e2e/nomad/protocol compares the file with Nomad's own protocol.
func TestWireIsGolden(t *testing.T) {
	t.Parallel()
	wiretest.Golden(t, *update, protocol.File_driver_protocol_base_proto, protocol.File_driver_protocol_driver_proto,
		protocol.File_driver_protocol_hclspec_proto, protocol.File_driver_protocol_structs_proto)
}
