package targetplugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/autoscaler"
	"github.com/nomad-placer/nomad-placer/placer/autoscaler/protocol"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// TestMain is the plugin's program, too: the test starts itself.
func TestMain(m *testing.M) {
	if os.Getenv(autoscaler.Handshake.MagicCookieKey) == autoscaler.Handshake.MagicCookieValue {
		serve(os.Args[1])
		return
	}
	os.Exit(m.Run())
}

func serve(manner string) {
	log := autoscaler.Logger("test")
	switch manner {
	case "apm":
		autoscaler.ServeAPM(log, base{manner: manner}, protocol.UnimplementedAPMPluginServiceServer{})
	case "ends":
		os.Exit(3)
	default:
		autoscaler.ServeTarget(log, base{manner: manner}, &target{manner: manner})
	}
}

type base struct {
	protocol.UnimplementedBasePluginServiceServer
	manner string
}

func (b base) PluginInfo(context.Context, *protocol.PluginInfoRequest) (*protocol.PluginInfoResponse, error) {
	if b.manner == "apm" {
		return &protocol.PluginInfoResponse{Name: "test", Type: protocol.PluginType_PLUGIN_TYPE_APM}, nil
	}
	return &protocol.PluginInfoResponse{Name: "test", Type: protocol.PluginType_PLUGIN_TYPE_TARGET}, nil
}

func (b base) SetConfig(_ context.Context, r *protocol.SetConfigRequest) (*protocol.SetConfigResponse, error) {
	if r.GetConfig()["region"] != "here" {
		return nil, errors.New("no region")
	}
	return &protocol.SetConfigResponse{}, nil
}

// target keeps a count, and repeats what it was asked last in its errors.
type target struct {
	protocol.UnimplementedTargetPluginServiceServer
	manner string

	mu    sync.Mutex
	count int64
}

func (f *target) Status(ctx context.Context, r *protocol.StatusRequest) (*protocol.StatusResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.manner == "hangs" {
		<-ctx.Done()
		time.Sleep(time.Hour)
	}
	if r.GetConfig()["node_class"] == "" || r.GetConfig()["node_selector_strategy"] != "empty_ignore_system" {
		return nil, fmt.Errorf("config %v", r.GetConfig())
	}
	return &protocol.StatusResponse{Ready: true, Count: f.count}, nil
}

func (f *target) Scale(_ context.Context, r *protocol.ScaleRequest) (*protocol.ScaleResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch f.manner {
	case "dies":
		os.Exit(1)
	case "refuses":
		return nil, errors.New("quota exceeded")
	case "token":
		return nil, fmt.Errorf("NOMAD_TOKEN=%q", os.Getenv("NOMAD_TOKEN"))
	}
	var meta map[string]string
	if value := r.GetAction().GetMeta().GetValue(); value != nil {
		if err := json.Unmarshal(value, &meta); err != nil {
			return nil, err
		}
	}
	down := r.GetAction().GetDirection() == protocol.ScalingDirection_SCALING_DIRECTION_DOWN
	if down != (r.GetAction().GetCount() < f.count) || down && meta[MetaNodes] != "n1,n2" {
		return nil, fmt.Errorf("direction %s from %d to %d, meta %v", r.GetAction().GetDirection(), f.count, r.GetAction().GetCount(), meta)
	}
	f.count = r.GetAction().GetCount()
	return &protocol.ScaleResponse{}, nil
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) After(time.Duration) <-chan time.Time { return nil }

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func start(t *testing.T, manner string, change ...func(*Options)) (*Plugin, *clock) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &clock{now: time.Now()}
	o := Options{
		Command: program, Args: []string{manner}, Config: map[string]string{"region": "here"}, Clock: c,
		Types: []Type{{Name: "small", NodeClass: "burst"}},
	}
	for _, f := range change {
		f(&o)
	}
	p := New(o)
	t.Cleanup(p.Close)
	return p, c
}

func wantError(t *testing.T, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, want one that says %q", err, says)
	}
}

func TestCountsAndNamesOfNodes(t *testing.T) {
	t.Parallel()
	p, _ := start(t, "good")
	for _, s := range []cluster.Scaling{
		{Type: "small", Was: 0, Count: 3}, {Type: "small", Was: 3, Count: 1, Leave: []cluster.NodeID{"n1", "n2"}},
	} {
		if err := p.Scale(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		got, err := p.Status(t.Context(), "small")
		if err != nil || got.Count != s.Count || !got.Ready {
			t.Errorf("%+v, %v after %+v", got, err, s)
		}
	}
	wantError(t, p.Scale(t.Context(), cluster.Scaling{Type: "small", Was: 1, Count: 0, Leave: []cluster.NodeID{"n9"}}), "n9")
}

// What cannot be used says why, and is not started again at once.
func TestPluginsThatAreOfNoUse(t *testing.T) {
	t.Parallel()
	for manner, says := range map[string]string{"apm": "no target plugin", "ends": "exit status 3", "no region": "no region", "absent": "no such file"} {
		t.Run(manner, func(t *testing.T) {
			t.Parallel()
			p, c := start(t, manner, func(o *Options) {
				switch manner {
				case "no region":
					o.Config = nil
				case "absent":
					o.Command = "/no/such/plugin"
				}
			})
			_, err := p.Status(t.Context(), "small")
			if manner != "ends" { // go-plugin has a text of its own for that
				wantError(t, err, says)
			}
			if err == nil {
				t.Error("it is of use")
			}
			for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
				_, err = p.Status(t.Context(), "small")
				wantError(t, err, "is started again in "+pause.String())
				c.pass(pause)
				if _, err = p.Status(t.Context(), "small"); err == nil || strings.Contains(err.Error(), "is started again in") {
					t.Errorf("after the pause: %v", err)
				}
			}
		})
	}
}

// A plugin that dies is started again; what it was asked is refused.
func TestAPluginThatDies(t *testing.T) {
	t.Parallel()
	p, c := start(t, "dies")
	if err := p.Scale(t.Context(), cluster.Scaling{Type: "small", Count: 1}); err == nil {
		t.Fatal("it did not die")
	}
	c.pass(2 * time.Second)
	if got, err := p.Status(t.Context(), "small"); err != nil || got.Count != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A call ends with its context, whatever the plugin does.
func TestAPluginThatHangs(t *testing.T) {
	t.Parallel()
	p, _ := start(t, "hangs")
	if _, err := p.started(t.Context()); err != nil {
		t.Fatal(err)
	}
	process := p.running
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	if _, err := p.Status(ctx, "small"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	_, err := call(t.Context(), p, 200*time.Millisecond, func(ctx context.Context, target protocol.TargetPluginServiceClient) (*protocol.StatusResponse, error) {
		return target.Status(ctx, &protocol.StatusRequest{})
	})
	wantError(t, err, "did not answer within 200ms, and was ended")
	if !process.process.Exited() {
		t.Error("it runs on")
	}
}

func TestWhatThePluginRefuses(t *testing.T) {
	t.Parallel()
	p, _ := start(t, "refuses")
	wantError(t, p.Scale(t.Context(), cluster.Scaling{Type: "small", Count: 1}), "quota exceeded")
}

// The agent's token stays with the agent.
func TestThePluginGetsNoToken(t *testing.T) {
	t.Setenv("NOMAD_TOKEN", "secret")
	p, _ := start(t, "token")
	wantError(t, p.Scale(t.Context(), cluster.Scaling{Type: "small", Count: 1}), `NOMAD_TOKEN=""`)
	if got := withoutToken([]string{"A=1", "NOMAD_TOKEN=x", "NOMAD_ADDR=y"}); !slices.Equal(got, []string{"A=1", "NOMAD_ADDR=y"}) {
		t.Errorf("%v", got)
	}
}
