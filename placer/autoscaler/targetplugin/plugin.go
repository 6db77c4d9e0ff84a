package targetplugin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/nomad-placer/nomad-placer/placer/autoscaler"
	"github.com/nomad-placer/nomad-placer/placer/autoscaler/protocol"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// MetaNodes of a request are the IDs in Nomad of the nodes that are to go, with commas between them.
const MetaNodes = "nomad_placer_nodes"

// Bounds, chosen by us. A plugin drains nodes before it ends them, within the drain deadline of its
// configuration (15 minutes by default).
const (
	startWithin  = 20 * time.Second
	StatusWithin = 30 * time.Second
	ScaleWithin  = 20 * time.Minute
	pauseFirst   = time.Second
	pauseMost    = 5 * time.Minute
)

// Keys of a target's configuration that are set where the operator does not.
const (
	keyClass    = "node_class"
	keySelector = "node_selector_strategy"
	emptyNodes  = "empty_ignore_system"
)

// Type is what the plugin has to know of a type of node.
type Type struct {
	Name, NodeClass string
	Config          map[string]string
}

// Options of a plugin.
type Options struct {
	Command string
	Args    []string
	Config  map[string]string
	Types   []Type
	Clock   cluster.Clock
	Log     *slog.Logger
}

// Plugin is one target plugin. It is safe for use by several goroutines.
type Plugin struct {
	options Options
	targets map[string]map[string]string // by type

	mu        sync.Mutex
	running   *running // nil: it was not started, or has ended
	failures  int      // to start it, one after the other
	notBefore time.Time
}

// running is a process of the plugin's program.
type running struct {
	process *plugin.Client
	target  protocol.TargetPluginServiceClient
}

var _ cluster.Renter = (*Plugin)(nil)

// New plugin. Its program is started when it is needed first.
func New(o Options) *Plugin {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := &Plugin{options: o, targets: map[string]map[string]string{}}
	for _, t := range o.Types {
		config := map[string]string{keyClass: t.NodeClass, keySelector: emptyNodes}
		maps.Copy(config, t.Config)
		p.targets[t.Name] = config
	}
	return p
}

// Close ends the plugin's program.
func (p *Plugin) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
}

// end needs the lock.
func (p *Plugin) end() {
	if p.running != nil {
		p.running.process.Kill()
		p.running = nil
	}
}

// Status implements cluster.Renter.
func (p *Plugin) Status(ctx context.Context, typ string) (cluster.RentalStatus, error) {
	answer, err := call(ctx, p, StatusWithin, func(ctx context.Context, target protocol.TargetPluginServiceClient) (*protocol.StatusResponse, error) {
		return target.Status(ctx, &protocol.StatusRequest{Config: p.targets[typ]})
	})
	if err != nil {
		return cluster.RentalStatus{}, err
	}
	if answer.GetCount() < 0 {
		return cluster.RentalStatus{}, fmt.Errorf("target plugin %s says that there are %d nodes of type %s", p.options.Command, answer.GetCount(), typ)
	}
	return cluster.RentalStatus{Count: int(answer.GetCount()), Ready: answer.GetReady()}, nil
}

// Scale implements cluster.Renter.
func (p *Plugin) Scale(ctx context.Context, s cluster.Scaling) error {
	action, err := actionOf(s)
	if err != nil {
		return err
	}
	_, err = call(ctx, p, ScaleWithin, func(ctx context.Context, target protocol.TargetPluginServiceClient) (*protocol.ScaleResponse, error) {
		return target.Scale(ctx, &protocol.ScaleRequest{Action: action, Config: p.targets[s.Type]})
	})
	return err
}

func actionOf(s cluster.Scaling) (*protocol.ScalingAction, error) {
	out := &protocol.ScalingAction{Count: int64(s.Count), Reason: s.Reason, Direction: protocol.ScalingDirection_SCALING_DIRECTION_UP}
	if s.Count < s.Was {
		out.Direction = protocol.ScalingDirection_SCALING_DIRECTION_DOWN
	}
	if len(s.Leave) == 0 {
		return out, nil
	}
	names := make([]string, len(s.Leave))
	for i, n := range s.Leave {
		names[i] = string(n)
	}
	meta, err := json.Marshal(map[string]string{MetaNodes: strings.Join(names, ",")})
	out.Meta = &anypb.Any{Value: meta}
	return out, err
}

// call asks the plugin, and ends one that does not answer in time: what hangs once is not waited
// for again.
func call[T any](ctx context.Context, p *Plugin, within time.Duration, ask func(context.Context, protocol.TargetPluginServiceClient) (T, error)) (T, error) {
	var none T
	process, err := p.started(ctx)
	if err != nil {
		return none, fmt.Errorf("target plugin %s: %w", p.options.Command, err)
	}
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	answer, err := ask(limited, process.target)
	switch code := status.Code(err); {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return none, ctx.Err()
	case code == codes.DeadlineExceeded, code == codes.Canceled: // by the plugin's clock the time is over, too
		err = fmt.Errorf("it did not answer within %s, and was ended", within)
		p.failed(process)
	case code == codes.Unavailable:
		p.failed(process)
	}
	if s, ok := status.FromError(err); ok {
		err = errors.New(s.Message())
	}
	return none, fmt.Errorf("target plugin %s: %w", p.options.Command, err)
}

// failed ends a process that is of no use any more.
func (p *Plugin) failed(process *running) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == process {
		p.end()
		p.pause()
	}
}

// pause needs the lock. The next process is not started before it is over.
func (p *Plugin) pause() {
	p.notBefore = p.options.Clock.Now().Add(min(pauseMost, pauseFirst<<min(p.failures, 10)))
	p.failures++
}

// started is a process that runs, and is started where there is none.
func (p *Plugin) started(ctx context.Context) (*running, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running != nil && !p.running.process.Exited() {
		return p.running, nil
	}
	p.end()
	if now := p.options.Clock.Now(); now.Before(p.notBefore) {
		return nil, fmt.Errorf("it ended or could not be started, and is started again in %s", p.notBefore.Sub(now).Round(time.Second))
	}
	next, err := p.start(ctx)
	if err != nil {
		p.pause()
		return nil, err
	}
	p.running, p.failures = next, 0
	p.options.Log.Info("the target plugin runs", "command", p.options.Command)
	return next, nil
}

func (p *Plugin) start(ctx context.Context) (*running, error) {
	program := exec.Command(p.options.Command, p.options.Args...)
	program.Env = withoutToken(os.Environ())
	process := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: autoscaler.Handshake, Plugins: plugin.PluginSet{}, Cmd: program, SkipHostEnv: true,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC}, StartTimeout: startWithin,
		Logger: hclog.New(&hclog.LoggerOptions{Name: "target", Level: hclog.Info, Output: logLines{p.options.Log}}),
	})
	next, err := p.introduce(ctx, process)
	if err != nil {
		process.Kill()
		return nil, err
	}
	return next, nil
}

// introduce configures a process that was started, and makes sure that it is what it should be.
func (p *Plugin) introduce(ctx context.Context, process *plugin.Client) (*running, error) {
	protocolClient, err := process.Client()
	if err != nil {
		return nil, err
	}
	connected, ok := protocolClient.(*plugin.GRPCClient)
	if !ok {
		return nil, errors.New("it does not speak gRPC")
	}
	ctx, cancel := context.WithTimeout(ctx, StatusWithin)
	defer cancel()
	base := protocol.NewBasePluginServiceClient(connected.Conn)
	info, err := base.PluginInfo(ctx, &protocol.PluginInfoRequest{})
	if err != nil {
		return nil, fmt.Errorf("it does not say what it is: %w", err)
	}
	if info.GetType() != protocol.PluginType_PLUGIN_TYPE_TARGET {
		return nil, fmt.Errorf("it is %s %s, and no target plugin", info.GetType(), cmp.Or(info.GetName(), "without a name"))
	}
	if _, err := base.SetConfig(ctx, &protocol.SetConfigRequest{Config: p.options.Config}); err != nil {
		return nil, fmt.Errorf("it refuses its configuration: %w", err)
	}
	return &running{process, protocol.NewTargetPluginServiceClient(connected.Conn)}, nil
}

// tokenVariable is where Nomad's programs look for a token.
const tokenVariable = "NOMAD_TOKEN="

func withoutToken(environment []string) []string {
	return slices.DeleteFunc(environment, func(v string) bool { return strings.HasPrefix(v, tokenVariable) })
}

// logLines writes what the plugin says to the agent's log.
type logLines struct{ log *slog.Logger }

var _ io.Writer = logLines{}

// Write implements io.Writer.
func (l logLines) Write(line []byte) (int, error) {
	l.log.Info("the target plugin says", "line", strings.TrimSpace(string(line)))
	return len(line), nil
}
