package main

import (
	"fmt"
	"net"
	"net/rpc"

	"github.com/hashicorp/nomad/helper/pool"
	"github.com/hashicorp/nomad/nomad/structs"
)

// NodeMeta answers the server's questions about node metadata, for all nodes:
// several nodes share a connection, and a question names its node.
type NodeMeta struct{ nodes map[string]*lightNode }

// Apply changes the dynamic metadata of a node.
func (m *NodeMeta) Apply(args *structs.NodeMetaApplyRequest, reply *structs.NodeMetaResponse) error {
	n, ok := m.nodes[args.NodeID]
	if !ok {
		return fmt.Errorf("no light node %q", args.NodeID)
	}
	reply.Meta = n.applyMeta(args.Meta)
	return nil
}

// answerServer serves the streams that the server opens on a pool's connections.
func answerServer(conns *pool.ConnPool, meta *NodeMeta) error {
	server := rpc.NewServer()
	if err := server.Register(meta); err != nil {
		return err
	}
	opened := make(chan *pool.Conn, 4)
	conns.SetConnListener(opened)
	go func() {
		for conn := range opened {
			go acceptStreams(conn, server)
		}
	}()
	return nil
}

func acceptStreams(conn *pool.Conn, server *rpc.Server) {
	for {
		stream, err := conn.AcceptStream()
		if err != nil {
			return // the connection ended
		}
		go serveStream(stream, server)
	}
}

func serveStream(stream net.Conn, server *rpc.Server) {
	defer stream.Close()
	kind := make([]byte, 1)
	if _, err := stream.Read(kind); err != nil || pool.RPCType(kind[0]) != pool.RpcNomad {
		return // light nodes have no files and no shells
	}
	codec := pool.NewServerCodec(stream)
	for server.ServeRequest(codec) == nil {
		continue
	}
}
