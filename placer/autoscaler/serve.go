package autoscaler

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/nomad-placer/nomad-placer/placer/autoscaler/protocol"
)

// Handshake is the autoscaler's. It keeps a plugin from being run by hand by mistake, and is no
// secret.
var Handshake = plugin.HandshakeConfig{
	ProtocolVersion:  1,
	MagicCookieKey:   "NOMAD_AUTOSCALER_PLUGIN_MAGIC_COOKIE",
	MagicCookieValue: "e082fa04d587a6525d683666fa253d6afda00f20c122c54a80a3ed57fec99ff3",
}

// The names under which the autoscaler dispenses the services of a plugin.
const (
	Base   = "base"
	APM    = "apm"
	Target = "target"
)

// lookEvery is how often a plugin looks whether the autoscaler that started it is still there.
// Chosen by us: a second autoscaler is started some seconds after the first one ended.
const lookEvery = 500 * time.Millisecond

// service registers one gRPC service of a plugin.
type service struct {
	plugin.NetRPCUnsupportedPlugin
	register func(*grpc.Server)
}

// GRPCServer registers the service.
func (s *service) GRPCServer(_ *plugin.GRPCBroker, server *grpc.Server) error {
	s.register(server)
	return nil
}

// GRPCClient is never used: whoever starts the plugin is the client.
func (s *service) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("this program is a plugin, not a client of plugins")
}

// ServeAPM runs an APM plugin until the autoscaler ends it, or is gone.
func ServeAPM(log hclog.Logger, base protocol.BasePluginServiceServer, apm protocol.APMPluginServiceServer) {
	serve(log, base, APM, func(s *grpc.Server) { protocol.RegisterAPMPluginServiceServer(s, apm) })
}

// ServeTarget does the same of a target plugin.
func ServeTarget(log hclog.Logger, base protocol.BasePluginServiceServer, target protocol.TargetPluginServiceServer) {
	serve(log, base, Target, func(s *grpc.Server) { protocol.RegisterTargetPluginServiceServer(s, target) })
}

func serve(log hclog.Logger, base protocol.BasePluginServiceServer, kind string, register func(*grpc.Server)) {
	go endWithParent(log)
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: Handshake,
		Plugins: plugin.PluginSet{
			Base: &service{register: func(s *grpc.Server) { protocol.RegisterBasePluginServiceServer(s, base) }},
			kind: &service{register: register},
		},
		GRPCServer: plugin.DefaultGRPCServer,
		Logger:     log,
	})
}

// Logger writes what go-plugin shows as the autoscaler's own log.
func Logger(name string) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: name, Level: hclog.Trace, JSONFormat: true})
}

// endWithParent ends the process when whoever started it has: nobody else can reach it.
func endWithParent(log hclog.Logger) {
	parent := os.Getppid()
	for range time.Tick(lookEvery) {
		if os.Getppid() != parent {
			log.Warn("the autoscaler that started this plugin is gone; the plugin ends, too")
			os.Exit(1)
		}
	}
}
