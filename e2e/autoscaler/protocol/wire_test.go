// Package protocol compares our own protocol of the autoscaler's plugins with the autoscaler's.
package protocol

import (
	"testing"

	_ "github.com/hashicorp/nomad-autoscaler/plugins/apm/proto/v1"
	_ "github.com/hashicorp/nomad-autoscaler/plugins/base/proto/v1"
	_ "github.com/hashicorp/nomad-autoscaler/plugins/shared/proto/v1"
	_ "github.com/hashicorp/nomad-autoscaler/plugins/target/proto/v1"
)

// TestTheAutoscalerSpeaksTheSame: every method, field and value of ours is the autoscaler's, with
// the same number and type.
func TestTheAutoscalerSpeaksTheSame(t *testing.T) {
	t.Parallel()
	compareWire(t, "../../../placer/autoscaler/protocol/testdata/wire.golden", 30)
}
