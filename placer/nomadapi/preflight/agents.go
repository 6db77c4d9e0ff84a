package preflight

import (
	"context"
	"net"
	"net/url"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/hashicorp/nomad/api"
)

// asked is an agent that was asked for itself, by its own address.
type asked struct {
	what, name string // "server" or "node"
	answer     answer
	err        error // it did not answer
}

// askAgents asks every server and every node, without a token: how the answer
// comes tells the clock and the certificate, whatever it says.
func (n *nomad) askAgents(ctx context.Context) []asked {
	var all []asked
	var confs []*api.Config
	add := func(what, name string, conf *api.Config) {
		conf.SecretID = ""
		all, confs = append(all, asked{what: what, name: name}), append(confs, conf)
	}
	servers, _ := n.servers() // who asks for the servers says why they are not known
	for _, s := range servers {
		add("server", s.Name, n.serverConfig(s))
	}
	nodes, _ := n.nodes()
	for _, c := range nodes {
		if c.ready() && c.HTTPAddr != "" {
			add("node", c.Name, n.conf.ClientConfig(n.region(), c.HTTPAddr, c.TLSEnabled))
		}
	}
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i := range all {
		group.Go(func() error {
			all[i].answer, all[i].err = n.ask(ctx, confs[i])
			return nil
		})
	}
	_ = group.Wait() // none returns an error
	return all
}

// heard are those who were asked by their own address; where none of them answers,
// the one at our address instead.
func (n *nomad) heard() []asked {
	all := n.asked()
	if slices.ContainsFunc(all, func(a asked) bool { return a.err == nil }) {
		return all
	}
	first, _ := n.way.answer()
	return append([]asked{{what: "agent at", name: n.address, answer: first}}, all...)
}

// ask wants any answer.
func (n *nomad) ask(ctx context.Context, conf *api.Config) (answer, error) {
	client, way, err := connect(conf, n.o.Now)
	if err != nil {
		return answer{}, err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, agentTimeout)
	defer cancel()
	_, err = client.Raw().Query("/v1/agent/health", nil, (&api.QueryOptions{}).WithContext(ctx))
	if a, known := way.answer(); known {
		return a, nil
	}
	return answer{}, err
}

// serverConfig takes a server to serve HTTP where the one at our address does:
// Nomad does not tell.
func (n *nomad) serverConfig(s server) *api.Config {
	scheme, port := "http", "4646"
	if at, err := url.Parse(n.address); err == nil && at.Scheme != "unix" {
		scheme = at.Scheme
		if at.Port() != "" {
			port = at.Port()
		}
	}
	conf := n.conf.ClientConfig(n.region(), net.JoinHostPort(s.Addr, port), scheme == "https")
	if conf.TLSConfig != nil {
		conf.TLSConfig.TLSServerName = "server." + n.region() + ".nomad"
	}
	return conf
}

// region is that of Nomad's role names in certificates.
func (n *nomad) region() string {
	if n.conf.Region != "" {
		return n.conf.Region
	}
	if servers, err := n.servers(); err == nil && len(servers) > 0 && servers[0].Tags["region"] != "" {
		return servers[0].Tags["region"]
	}
	return api.GlobalRegion
}
