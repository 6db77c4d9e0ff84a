package preflight

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"
	"golang.org/x/sync/errgroup"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
)

// Bounds of asking, chosen by us.
const (
	readTimeout  = 10 * time.Second // one read of Nomad
	agentTimeout = 3 * time.Second  // one question to one agent: it may be out of reach
	atOnce       = 16               // questions under way together
)

// nomad is the cluster as the checks see it. What several checks need is read
// once, when the first of them asks.
type nomad struct {
	o    Options
	conf *api.Config
	api  *api.Client
	way  *readOnly

	address string // as it was given
	nodes   func() ([]node, error)
	servers func() ([]server, error)
	access  func() (access, error)
	asked   func() []asked
}

func newNomad(ctx context.Context, o Options) (*nomad, error) {
	conf := api.DefaultConfig()
	if o.Configure != nil {
		o.Configure(conf)
	}
	address := conf.Address
	client, way, err := connect(conf, o.Now)
	if err != nil {
		return nil, fmt.Errorf("nomad at %s: %w", address, err)
	}
	n := &nomad{o: o, conf: conf, api: client, way: way, address: address}
	n.nodes = sync.OnceValues(func() ([]node, error) { return n.readNodes(ctx) })
	n.servers = sync.OnceValues(func() ([]server, error) { return n.readServers(ctx) })
	n.access = sync.OnceValues(func() (access, error) { return n.readAccess(ctx) })
	n.asked = sync.OnceValue(func() []asked { return n.askAgents(ctx) })
	return n, nil
}

// connect opens a way to one agent that only reads.
func connect(conf *api.Config, now func() time.Time) (*api.Client, *readOnly, error) {
	c, err := nomadapi.HTTPClient(conf)
	if err != nil {
		return nil, nil, err
	}
	if c == nil { // http.DefaultTransport was replaced
		c = &http.Client{Transport: http.DefaultTransport}
	}
	way := &readOnly{base: c.Transport, now: now}
	c.Transport = way
	conf.HttpClient = c
	client, err := api.NewClient(conf)
	return client, way, err
}

// get reads path, in all namespaces unless the query names one.
func (n *nomad) get(ctx context.Context, path string, q api.QueryOptions, out any) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	_, err := n.api.Raw().Query(path, out, q.WithContext(ctx))
	return err
}

// node is the part of a client that is looked at.
type node struct {
	ID, Name, NodePool, Status string
	HTTPAddr                   string
	TLSEnabled                 bool
	Attributes                 map[string]string
	Drivers                    map[string]struct {
		Detected, Healthy bool
		HealthDescription string
	}
}

func (n node) ready() bool { return n.Status == api.NodeStatusReady }

// readNodes are sorted by name.
func (n *nomad) readNodes(ctx context.Context) ([]node, error) {
	var stubs []struct{ ID string }
	if err := n.get(ctx, "/v1/nodes", api.QueryOptions{}, &stubs); err != nil {
		return nil, err
	}
	nodes := make([]node, len(stubs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, s := range stubs {
		group.Go(func() error {
			return n.get(ctx, "/v1/node/"+url.PathEscape(s.ID), api.QueryOptions{}, &nodes[i])
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(nodes, func(a, b node) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return nodes, nil
}

// server is one of Nomad's servers.
type server struct {
	Name, Addr, Status string
	Tags               map[string]string
}

func (n *nomad) readServers(ctx context.Context) ([]server, error) {
	var found struct{ Members []server }
	if err := n.get(ctx, "/v1/agent/members", api.QueryOptions{}, &found); err != nil {
		return nil, err
	}
	slices.SortFunc(found.Members, func(a, b server) int { return cmp.Compare(a.Name, b.Name) })
	return found.Members, nil
}

func statusOf(err error) int {
	var answer api.UnexpectedResponseError
	if errors.As(err, &answer) && answer.HasStatusCode() {
		return answer.StatusCode()
	}
	return 0
}

func isForbidden(err error) bool { return statusOf(err) == http.StatusForbidden }

// reason is what Nomad said, without the api package's wrapping.
func reason(err error) string {
	var answer api.UnexpectedResponseError
	if errors.As(err, &answer) && answer.HasBody() {
		return strings.TrimRight(strings.TrimSpace(answer.Body()), ".")
	}
	return strings.TrimRight(err.Error(), ".")
}
