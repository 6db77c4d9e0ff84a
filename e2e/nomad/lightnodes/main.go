package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/nomad/helper/pool"
	"github.com/hashicorp/yamux"
)

// Bounds of the connections, chosen by us.
const (
	// connections to the server at most; beyond it nodes share them. A server
	// remembers one node per connection, so only that one's metadata can be set.
	connections = 1000
	idleStreams = 8  // kept per connection
	joining     = 32 // nodes registering at a time
)

func main() {
	server := flag.String("server", "127.0.0.1:4647", "RPC `address` of the Nomad server.")
	file := flag.String("spec", "", "`file` that describes the nodes.")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *server, *file); err != nil {
		fmt.Fprintln(os.Stderr, "lightnodes:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, server, file string) error {
	if file == "" {
		return errors.New("-spec is required")
	}
	s, err := readSpec(file)
	if err != nil {
		return err
	}
	address, err := net.ResolveTCPAddr("tcp", server)
	if err != nil {
		return err
	}
	nodes, err := s.nodes()
	if err != nil {
		return err
	}
	out := newEvents(os.Stdout)
	meta := &NodeMeta{nodes: make(map[string]*lightNode, len(nodes))}
	var light []*lightNode
	for _, n := range nodes {
		l := &lightNode{
			spec: n, server: address, out: out, batchRunFor: s.batchRunFor(),
			known: map[string]*allocation{}, metaSet: make(chan struct{}, 1),
		}
		light = append(light, l)
		meta.nodes[n.ID] = l
	}
	var pools []*pool.ConnPool
	for range min(connections, len(light)) {
		p := pool.NewPool(hclog.NewNullLogger(), 0, idleStreams, nil, yamux.DefaultConfig())
		if err := answerServer(p, meta); err != nil {
			return err
		}
		pools = append(pools, p)
	}
	for i, l := range light {
		l.conns = pools[i%len(pools)]
	}
	go obey(os.Stdin, meta.nodes, out)
	joinAll(ctx, light, out)
	<-ctx.Done()
	var errs []error
	for _, p := range pools {
		errs = append(errs, p.Shutdown())
	}
	return errors.Join(errs...)
}

// joinAll registers the nodes, some at a time, and tells how many are ready.
func joinAll(ctx context.Context, nodes []*lightNode, out *events) {
	slots := make(chan struct{}, joining)
	var mu sync.Mutex
	ready := 0
	for _, n := range nodes {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		go func() {
			n.join(ctx, func() {
				mu.Lock()
				defer mu.Unlock()
				ready++
				if ready%100 == 0 || ready == len(nodes) {
					out.ready(ready)
				}
			})
			<-slots
		}()
	}
}
