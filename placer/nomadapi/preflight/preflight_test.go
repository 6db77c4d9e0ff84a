package preflight_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/preflight"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/rights"
)

const (
	root  = "11111111-0000-0000-0000-000000000000"
	agent = "22222222-0000-0000-0000-000000000000"
)

// scene is a cluster that is ready, and who looks at it.
type scene struct {
	*nomadtest.Server
	options        preflight.Options
	address, token string
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{Server: nomadtest.New(t), token: root, options: preflight.Options{Version: "0.1.0-dev"}}
	s.address = s.URL
	s.Now = time.Now
	s.Namespaces = []string{"prod"}
	s.Tokens = map[string]nomadtest.Token{
		root:  {Name: "bootstrap", Type: nomadtest.Management},
		agent: {Name: "placer", Type: "client", Policies: []string{"nomad-placer"}},
	}
	s.Policies = map[string]nomadtest.Policy{"nomad-placer": {Rules: rights.Policy{Role: rights.Leader}.HCL(), Job: "nomad-placer"}}
	s.AddNode(s.node("node-1"))
	s.put(t, "/v1/node/pools", `{"Name":"placer"}`)
	s.put(t, "/v1/var/nomad-placer/leader?lock-acquire", `{"Items":{"address":"http://127.0.0.1:9464"},"Lock":{"TTL":"15s"}}`)
	return s
}

// node has a calibrated driver and listens where the server does.
func (s *scene) node(name string) nomadtest.Node {
	return nomadtest.Node{
		ID: "id-" + name, Name: name, Drivers: []string{"ibench"}, Address: strings.TrimPrefix(s.URL, "http://"),
		Attributes: map[string]string{"driver.ibench.version": "0.1.0", "driver.ibench.calibration.id": "c1"},
	}
}

func (s *scene) put(t *testing.T, path, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("PUT %s: %s", path, answer.Status)
	}
}

// check runs all checks and wants that nothing was written.
func (s *scene) check(t *testing.T) []preflight.Line {
	t.Helper()
	before := s.Writes()
	o := s.options
	o.Configure = func(c *api.Config) { c.Address, c.SecretID = s.address, s.token }
	lines, err := preflight.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if wrote := s.Writes()[len(before):]; len(wrote) > 0 {
		t.Errorf("the checks wrote: %v", wrote)
	}
	return lines
}

// A cluster that is ready has nothing but ok, for a management token and for one
// with the agent's policy, which does not say who holds the lock.
func TestAReadyClusterIsOK(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	if lines := s.check(t); preflight.Count(lines, preflight.OK) != len(lines) {
		t.Errorf("a management token sees\n%s", text(lines))
	}
	s.token = agent
	s.Fail("GET", "/v1/node/pool/default", http.StatusForbidden, 1, "Permission denied") // its policy does not allow it
	for _, l := range s.check(t) {
		if l.State != preflight.OK && (l.Check != "leader" || l.State != preflight.Unknown) {
			t.Errorf("the agent's token sees %s %s: %s", l.Check, l.State, l.Text)
		}
	}
	s.Tokens = nil
	s.token = ""
	if lines := s.check(t); preflight.Count(lines, preflight.OK) != len(lines) {
		t.Errorf("without access control\n%s", text(lines))
	}
}

// Every bad input is named, with what to do.
func TestBadInput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*testing.T, *scene)
		check  string
		state  preflight.State
		text   string
		cure   string
	}{
		"no server": {
			func(_ *testing.T, s *scene) { s.address = "http://127.0.0.1:1" },
			"server", preflight.Failed, "Nomad at http://127.0.0.1:1 does not answer: .*connection refused", "NOMAD_ADDR",
		},
		"no leader of the servers": {
			func(_ *testing.T, s *scene) { s.Fail("GET", "/v1/status/leader", 500, 1, "No cluster leader") },
			"server", preflight.Failed, "cannot say which server leads: No cluster leader", "nomad server members",
		},
		"wrong token": {
			func(_ *testing.T, s *scene) { s.token = "33333333-0000-0000-0000-000000000000" },
			"token", preflight.Failed, "does not accept the token: ACL token not found", "-token or NOMAD_TOKEN",
		},
		"no token": {
			func(_ *testing.T, s *scene) { s.token = "" },
			"token", preflight.Warning, "No token is given", "NOMAD_TOKEN",
		},
		"no policy": {
			func(_ *testing.T, s *scene) { s.Policies = nil },
			"rights", preflight.Failed, "No policy is attached to job nomad-placer in namespace default", "nomad acl policy apply -namespace default -job nomad-placer",
		},
		"a policy that cannot be read": {
			func(_ *testing.T, s *scene) {
				s.Policies = map[string]nomadtest.Policy{"odd": {Rules: "namespace {", Job: "nomad-placer"}}
			},
			"rights", preflight.Unknown, "The rights of job nomad-placer are not known: policy odd", "nomad-placer acl policy",
		},
		"missing hold pool": {
			func(_ *testing.T, s *scene) { s.options.HoldPool = "elsewhere" },
			"pools", preflight.Failed, "Node pool elsewhere does not exist", `nomad node pool apply - <<< 'node_pool "elsewhere" \{\}'`,
		},
		"missing run pool": {
			func(_ *testing.T, s *scene) { s.options.RunPool = "prod" },
			"pools", preflight.Failed, "The run pool prod does not exist", "-run-pool",
		},
		"a run pool without nodes": {
			func(_ *testing.T, s *scene) { s.RemoveNode("id-node-1") },
			"pools", preflight.Failed, "The run pool default has no node that is ready", `node_pool = "default"`,
		},
		"one pool for both": {
			func(_ *testing.T, s *scene) { s.options.HoldPool = "default" },
			"pools", preflight.Failed, "are both default", "block pools",
		},
		"every node in the hold pool": {
			func(_ *testing.T, s *scene) { s.options.HoldPool = "all" },
			"pools", preflight.Failed, "contains every node", "block pools",
		},
		"a hold pool with a node": {
			func(_ *testing.T, s *scene) {
				n := s.node("node-2")
				n.Pool = "placer"
				s.AddNode(n)
			},
			"pools", preflight.Failed, "Node node-2 is in the hold pool placer, so held jobs run there at once", `node_pool = "default"`,
		},
		"one node without the driver": {
			func(_ *testing.T, s *scene) {
				s.AddNode(nomadtest.Node{ID: "id-2", Name: "node-2"})
			},
			"driver", preflight.Warning, "Node node-2: the driver ibench is missing", "plugin_dir",
		},
		"no node with the driver": {
			func(_ *testing.T, s *scene) {
				s.RemoveNode("id-node-1")
				s.AddNode(nomadtest.Node{ID: "id-2", Name: "node-2"})
			},
			"driver", preflight.Failed, "Node node-2: the driver ibench is missing", "plugin_dir",
		},
		"a driver of another version": {
			func(_ *testing.T, s *scene) {
				n := s.node("node-2")
				n.Attributes["driver.ibench.version"] = "0.0.9"
				s.AddNode(n)
			},
			"driver", preflight.Failed, "Node node-2: the driver ibench is 0.0.9, and this program is 0.1.0-dev", "Replace nomad-driver-ibench",
		},
		"an unhealthy driver": {
			func(_ *testing.T, s *scene) {
				s.PutNode(map[string]any{
					"ID": "id-2", "Name": "node-2", "Status": "ready", "NodePool": "default", "Attributes": map[string]any{"nomad.version": nomadtest.Version},
					"Drivers": map[string]any{"ibench": map[string]any{"Detected": true, "Healthy": false, "HealthDescription": "the kill switch is on"}},
				})
			},
			"driver", preflight.Failed, "Node node-2: the driver ibench is not healthy: the kill switch is on", "nomad node status",
		},
		"a node that is down": {
			func(_ *testing.T, s *scene) {
				s.AddNode(s.node("node-2"))
				s.SetNodeStatus("id-node-2", "down")
			},
			"driver", preflight.Unknown, "Node node-2: the driver is not known, because the status is down", "nomad system gc",
		},
		"a driver that may not profile": {
			func(_ *testing.T, s *scene) {
				n := s.node("node-2")
				n.Attributes["driver.ibench.allow"] = "kernels,lend"
				s.AddNode(n)
			},
			"permissions", preflight.Warning, `Node node-2: the operator does not allow "profile" .* so nothing is profiled there`, `Add "profile" to allow`,
		},
		"a driver that may do nothing": {
			func(_ *testing.T, s *scene) {
				n := s.node("node-2")
				n.Attributes["driver.ibench.allow"] = "none"
				s.AddNode(n)
			},
			"permissions", preflight.Warning, `Node node-2: the operator does not allow "lend" .* so no allocation there is resized in place`, `Add "lend" to allow`,
		},
		"one node without signers": {
			func(_ *testing.T, s *scene) {
				n := s.node("node-2")
				n.Attributes["driver.ibench.signers"] = "3fa9c2d1"
				s.AddNode(n)
			},
			"permissions", preflight.Warning, "Node node-1: the driver takes unsigned requests, so that everybody", "Add the signers of the other nodes",
		},
		"kernels that are not calibrated": {
			func(_ *testing.T, s *scene) {
				n := s.node("node-2")
				delete(n.Attributes, "driver.ibench.calibration.id")
				s.AddNode(n)
			},
			"calibration", preflight.Warning, "Node node-2: the kernels are not calibrated", "nomad-driver-ibench calibrate",
		},
		"an old client": {
			func(_ *testing.T, s *scene) {
				n := s.node("node-2")
				n.Attributes["nomad.version"] = "1.9.6"
				s.AddNode(n)
			},
			"versions", preflight.Failed, "Client node-2: Nomad 1.9.6 is older than", "Upgrade Nomad",
		},
		"a newer client": {
			func(_ *testing.T, s *scene) {
				n := s.node("node-2")
				n.Attributes["nomad.version"] = "2.0.1"
				s.AddNode(n)
			},
			"versions", preflight.Warning, "Client node-2 is of a newer version of Nomad than a server", "Upgrade the servers",
		},
		"a client of tomorrow": {
			func(_ *testing.T, s *scene) {
				n := s.node("node-2")
				n.Attributes["nomad.version"] = "3.0.0-beta.1+ent"
				s.AddNode(n)
			},
			"versions", preflight.Warning, `Client node-2: Nomad 3.0.0-beta.1\+ent is newer than`, "newer nomad-placer",
		},
		"nobody has ever led": {
			func(_ *testing.T, s *scene) { s.options.Namespace = "prod" },
			"leader", preflight.Failed, "No agent has ever led in namespace prod", "nomad job run",
		},
		"nobody leads": {
			func(_ *testing.T, s *scene) { s.ExpireLock("default", "nomad-placer/leader") },
			"leader", preflight.Failed, "No agent leads. The agent at http://127.0.0.1:9464 led last; it was elected at", "nomad job status nomad-placer",
		},
		"the server's clock 5 minutes behind": {
			func(_ *testing.T, s *scene) { s.Now = func() time.Time { return time.Now().Add(-5 * time.Minute) } },
			"clocks", preflight.Failed, `The clock of server server-1.global is at least (4m59s|5m0s) behind this machine's; 10s are allowed`, "chrony",
		},
		"a node's clock 5 minutes ahead": {
			func(t *testing.T, s *scene) {
				n := s.node("node-2")
				n.Address = clockAhead(t, 5*time.Minute)
				s.AddNode(n)
			},
			"clocks", preflight.Failed, `The clock of node node-2 is at least (4m59s|5m0s|4m58s) ahead of this machine's`, "chrony",
		},
		"a node out of reach": {
			func(_ *testing.T, s *scene) {
				n := s.node("node-2")
				n.Address = "127.0.0.1:1"
				s.AddNode(n)
			},
			"clocks", preflight.Unknown, "The clock of node node-2 is not known", "reaches the HTTP address",
		},
		"nodes may not be read": {
			func(_ *testing.T, s *scene) { s.Fail("GET", "/v1/nodes", 403, 1, "Permission denied") },
			"driver", preflight.Unknown, "The drivers of the nodes cannot be read: Nomad refuses it to this token", `node \{ policy = "read" \}`,
		},
		"the leader may not be read": {
			func(_ *testing.T, s *scene) {
				s.Fail("GET", "/v1/var/nomad-placer/leader", 403, 1, "Permission denied")
			},
			"leader", preflight.Unknown, "cannot be read: Nomad refuses it to this token", `path "nomad-placer/\*"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			c.change(t, s)
			lines := s.check(t)
			if !slices.ContainsFunc(lines, func(l preflight.Line) bool {
				return l.Check == c.check && l.State == c.state && found(c.text, l.Text) && found(c.cure, l.Cure)
			}) {
				t.Errorf("no line is %s %s: %q with %q in\n%s", c.check, c.state, c.text, c.cure, text(lines))
			}
			for _, l := range lines {
				if l.State == preflight.Failed && l.Cure == "" {
					t.Errorf("%s failed without a word on what to do: %s", l.Check, l.Text)
				}
			}
		})
	}
}

// Without an answer or with a wrong token, the rest is unknown, and never ok.
func TestWhatFollowsFromAFailureIsUnknown(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.address = "http://127.0.0.1:1"
	for _, l := range s.check(t) {
		if l.Check != "server" && l.State != preflight.Unknown {
			t.Errorf("%s is %s without a server: %s", l.Check, l.State, l.Text)
		}
	}
}

// Each single right of the policy, taken away, is named with the line to add, in the
// rule it is missing from.
func TestEachSingleRight(t *testing.T) {
	t.Parallel()
	type deed struct {
		policy     rights.Policy
		text, cure string
		state      preflight.State
	}
	all := []rights.Option{rights.ExecProbes, rights.NodeMetadata, rights.CreateHoldPool}
	deeds := map[string]deed{}
	for _, r := range rights.Of(rights.Leader, all...) {
		p := rights.Policy{Role: rights.Leader, Namespaces: []string{"default", "prod"}, With: all}
		if r.Name() == "node read" || r.Name() == "node_pool read" {
			p.With = nil // writing includes it
		}
		d := deed{state: preflight.Failed}
		if r.ToVolumes() {
			d.state = preflight.Warning
		}
		places := []string{""}
		switch r.Scope {
		case rights.Served, rights.Everywhere:
			places = []string{"default", "prod"}
		case rights.Variables:
			places = []string{"default"}
		}
		for _, place := range places {
			d.policy = p
			d.policy.Without = func(rule string, other rights.Right) bool { return rule == place && other.Name() == r.Name() }
			switch r.Scope {
			case rights.Served, rights.Everywhere:
				d.text = fmt.Sprintf("lacks the right %q in namespace %s, which the agent needs to %s", r.Capability, place, r.Why)
				d.cure = fmt.Sprintf("namespace %q { capabilities = [%q] }", place, r.Capability)
			case rights.Variables:
				d.text = fmt.Sprintf("lacks the right %q of Variables below nomad-placer/*", r.Capability)
				d.cure = fmt.Sprintf(`path "nomad-placer/*" { capabilities = [%q] }`, r.Capability)
			case rights.HoldPool:
				d.text, d.cure = fmt.Sprintf("lacks the right %q of node pool placer", r.Capability), fmt.Sprintf(`node_pool "placer" { policy = %q }`, r.Capability)
			case rights.HostVolumes:
				d.text, d.cure = `lacks the right "mount-readwrite" of every host volume`, `host_volume "*" { capabilities = ["mount-readwrite"] }`
			default:
				d.text, d.cure = fmt.Sprintf("lacks the right %q of ", r.Capability), fmt.Sprintf("%s { policy = %q }", r.Scope, r.Capability)
			}
			deeds[strings.TrimSpace(r.Name()+" "+place)] = d
		}
	}
	if len(deeds) != 9*2+3+6 {
		t.Errorf("%d rights are taken away", len(deeds))
	}
	for name, d := range deeds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.token = agent
			s.options.With = d.policy.With
			s.Policies["nomad-placer"] = nomadtest.Policy{Rules: d.policy.HCL()}
			lines := s.check(t)
			if !slices.ContainsFunc(lines, func(l preflight.Line) bool {
				return l.Check == "rights" && l.State == d.state && strings.Contains(l.Text, d.text) && strings.Contains(l.Cure, d.cure)
			}) {
				t.Errorf("no line says %q with %q in\n%s", d.text, d.cure, text(lines))
			}
		})
	}
}

// clockAhead answers as an agent whose clock is ahead.
func clockAhead(t *testing.T, by time.Duration) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(by).UTC().Format(http.TimeFormat))
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func found(pattern, in string) bool { return regexp.MustCompile(pattern).MatchString(in) }

func text(lines []preflight.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(string(l.State) + " " + l.Check + ": " + l.Text + "\n    " + l.Cure + "\n")
	}
	return b.String()
}
