//go:build e2e

package traffic

import (
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/network/capture/capturetest"
)

const (
	costMeasured = 15 * time.Second
	costBin      = 5 * time.Second
	costPoll     = time.Second // the command's own
	// costMost is how much processor time the capture may use for each second that the client uses to
	// make the connections: both are as slow as the machine. The target, 1 % of a core, is a row of
	// make bench. What the kernel does to tell of connections is in the time of who ends them.
	costMost = 0.1
)

// TestCaptureCost: what the product's capture costs of a processor while 1,000 connections a
// second begin and end on the node, one end in an allocation and the other in another.
func TestCaptureCost(t *testing.T) {
	spaces := capturetest.New(t, "client", "server")
	address := netip.AddrPortFrom(spaces.Address("server"), port).String()
	known := fmt.Sprintf("%s,r1/n1,default/shop/client\n%s,r1/n2,default/shop/server\n", spaces.Address("client"), spaces.Address("server"))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in := func(space, do string) (*exec.Cmd, io.WriteCloser, *strings.Builder) {
		cmd := exec.CommandContext(t.Context(), "nsenter", "--net="+filepath.Join(spaces.Folder, space), self, do, address)
		said := &strings.Builder{}
		cmd.Stdout, cmd.Stderr = said, os.Stderr
		told, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		return cmd, told, said
	}
	in("server", answers) // it ends with the test
	client, told, said := in("client", churns)
	watch := startCapture(t, spaces.Folder, known, costBin, costPoll)
	begun := time.Now()
	if err := sleepUntil(t.Context(), begun.Add(costMeasured+costBin)); err != nil {
		t.Fatal(err)
	}
	report := watch.stop(t)
	if err := told.Close(); err != nil {
		t.Fatal(err)
	}
	if err := client.Wait(); err != nil {
		t.Fatal(err)
	}
	lasted := time.Since(begun).Seconds()
	var made float64
	if _, err := fmt.Sscan(said.String(), &made); err != nil {
		t.Fatalf("the client said %q: %v", said, err)
	}
	used := client.ProcessState.UserTime() + client.ProcessState.SystemTime()
	share := float64(report.CPU) / 100 * lasted / used.Seconds()
	t.Logf("%s %% of a core at %.0f connections/s, %.2f of the client's; %d bins of %s, %d lost", report.CPU, made/lasted, share, report.Bins, costBin, report.Lost)
	if made/lasted < connectionsPerSecond/2 {
		t.Errorf("only %.0f connections a second: the test is of no use", made/lasted)
	}
	if report.Bins < 2 || report.Lost > 0 || !(share < costMost) {
		t.Errorf("capture: %+v, %.2f of the processor time of the client; below %g is wanted", report, share, costMost)
	}
}
