package preflight

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// certificateSoon is how long before its end a certificate is warned of.
const certificateSoon = 14 * 24 * time.Hour

// checkTLS looks at how this program and the agents are reached.
func checkTLS(_ context.Context, n *nomad) []Line {
	var lines []Line
	first, _ := n.way.answer()
	switch {
	case first.tls != nil && n.conf.TLSConfig != nil && n.conf.TLSConfig.Insecure:
		lines = one(Warning, fmt.Sprintf("The certificate of %s is not verified, so anyone on the network path can read and change everything.", n.address),
			"Leave out -tls-skip-verify and NOMAD_SKIP_VERIFY, and name the authority with -ca-cert.")
	case first.tls == nil && !isLocal(n.address):
		lines = one(Warning, fmt.Sprintf("Requests to %s are not encrypted, and the token with them.", n.address),
			"Set up TLS in Nomad's agents, and give an address with https:// and -ca-cert.")
	case first.tls == nil:
		lines = one(OK, fmt.Sprintf("%s is on this machine and needs no TLS.", n.address), "")
	}
	var certificates []certificate
	for _, a := range n.heard() {
		certificates = append(certificates, certificate{a.what + " " + a.name, a.answer.tls})
	}
	return append(lines, expiry(certificates, n.o.Now())...)
}

type certificate struct {
	of    string
	state *tls.ConnectionState
}

// expiry has a line for each certificate that ends soon, else one for the first
// that ends.
func expiry(all []certificate, now time.Time) []Line {
	var lines []Line
	var first time.Time
	count := 0
	for _, c := range all {
		if c.state == nil || len(c.state.PeerCertificates) == 0 {
			continue
		}
		ends := c.state.PeerCertificates[0].NotAfter
		if count++; count == 1 || ends.Before(first) {
			first = ends
		}
		if left := ends.Sub(now); left < certificateSoon {
			text := fmt.Sprintf("The certificate of %s ends on %s.", c.of, ends.UTC().Format(time.DateOnly))
			state := Warning
			if left < 0 {
				text, state = fmt.Sprintf("The certificate of %s has ended on %s.", c.of, ends.UTC().Format(time.DateOnly)), Failed
			}
			lines = append(lines, Line{State: state, Text: text, Cure: "Issue a new one, put it in place of the old one and send the agent SIGHUP."})
		}
	}
	if count > 0 && len(lines) == 0 {
		lines = one(OK, fmt.Sprintf("Nomad is reached with TLS; of %s the first ends on %s.", wording.Count(count, "certificate"), first.UTC().Format(time.DateOnly)), "")
	}
	return lines
}

// isLocal: a socket or a loopback address.
func isLocal(address string) bool {
	at, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(at.Hostname())
	return at.Scheme == "unix" || at.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
