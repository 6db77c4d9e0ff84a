package autoscaler

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/nomad-placer/nomad-placer/placer/autoscaler/protocol"
)

// servePlugin has this test's program be a plugin instead.
const servePlugin = "TEST_SERVE_PLUGIN"

func TestMain(m *testing.M) {
	if os.Getenv(servePlugin) != "" {
		ServeTarget(hclog.NewNullLogger(), &fake{}, &fake{})
		return
	}
	os.Exit(m.Run())
}

// fake is a target of three nodes.
type fake struct {
	protocol.UnimplementedBasePluginServiceServer
	protocol.UnimplementedTargetPluginServiceServer
}

func (*fake) Status(context.Context, *protocol.StatusRequest) (*protocol.StatusResponse, error) {
	return &protocol.StatusResponse{Ready: true, Count: 3}, nil
}

// client is the autoscaler's side.
type client struct{ plugin.NetRPCUnsupportedPlugin }

func (client) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error { return nil }

func (client) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return protocol.NewTargetPluginServiceClient(conn), nil
}

// TestServe: a plugin is found by the autoscaler's handshake, and under the name of its kind.
func TestServe(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), servePlugin+"=1")
	c := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: Handshake, Plugins: plugin.PluginSet{Target: client{}}, Cmd: cmd,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC}, Logger: hclog.NewNullLogger(),
	})
	t.Cleanup(c.Kill)
	rpc, err := c.Client()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := rpc.Dispense(Target)
	if err != nil {
		t.Fatal(err)
	}
	status, err := raw.(protocol.TargetPluginServiceClient).Status(t.Context(), &protocol.StatusRequest{})
	if err != nil || !status.GetReady() || status.GetCount() != 3 {
		t.Errorf("%v, %v", status, err)
	}
}

// TestPluginsEndWithTheAutoscaler: one whose autoscaler was killed does not stay behind.
func TestPluginsEndWithTheAutoscaler(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// A shell is the autoscaler: it starts the plugin, says which process that is, and is there until
	// its input ends.
	cmd := exec.Command("/bin/sh", "-c", `"$0" </dev/null >/dev/null 2>&1 & echo $!; read -r line`, self)
	cmd.Env = append(os.Environ(), servePlugin+"=1", Handshake.MagicCookieKey+"="+Handshake.MagicCookieValue)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) }) // it has ended, or the test failed
	time.Sleep(2 * lookEvery)
	if !runs(pid) {
		t.Fatal("the plugin ended although the autoscaler is there")
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // read found no line
	for deadline := time.Now().Add(20 * lookEvery); runs(pid); time.Sleep(lookEvery / 10) {
		if time.Now().After(deadline) {
			t.Fatal("the plugin is still there, and its autoscaler is gone")
		}
	}
}

// runs reports whether a process has not ended, whether or not somebody has asked how.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}
