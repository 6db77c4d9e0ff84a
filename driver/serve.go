package driver

import (
	"context"
	"errors"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/nomad-placer/nomad-placer/driver/protocol"
)

// handshake is Nomad's: it keeps the plugin from being run by hand by mistake.
var handshake = plugin.HandshakeConfig{
	ProtocolVersion:  2,
	MagicCookieKey:   "NOMAD_PLUGIN_MAGIC_COOKIE",
	MagicCookieValue: "e4327c2e01eabfd75a8a67adb114fb34a757d57eee7728d857a8cec6e91a7255",
}

// service registers one gRPC service of the plugin.
type service struct {
	plugin.NetRPCUnsupportedPlugin
	register func(*grpc.Server)
}

// GRPCServer registers the service.
func (s *service) GRPCServer(_ *plugin.GRPCBroker, server *grpc.Server) error {
	s.register(server)
	return nil
}

// GRPCClient is never used: the agent is the only client.
func (s *service) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("this program is a plugin, not a client of plugins")
}

// Serve runs the plugin until the agent ends it.
func Serve() {
	logger := hclog.New(&hclog.LoggerOptions{Name: PluginName, Level: hclog.Trace, JSONFormat: true})
	d := New(logger)
	defer d.Close()
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: handshake,
		Plugins: plugin.PluginSet{
			"base":   &service{register: func(s *grpc.Server) { protocol.RegisterBasePluginServer(s, d) }},
			"driver": &service{register: func(s *grpc.Server) { protocol.RegisterDriverServer(s, d) }},
		},
		GRPCServer: plugin.DefaultGRPCServer,
		Logger:     logger,
	})
}
