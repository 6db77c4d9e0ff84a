//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/authority"
	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
)

const (
	tlsTestPort  = 16500
	tlsAgentPort = tlsTestPort + 250
)

// secured is a Nomad with access control, where every side shows a certificate, and an
// agent beside it whose pages do, too.
type secured struct {
	*rig.Rig
	url    string // of the agent's pages
	own    authority.Pair
	log    string // the file of the agent's log
	client *http.Client
}

// TestAccessControlAndTLSWithEveryCheckOn: agent and command line work, pages ask for a
// login, a token of another namespace sees nothing of this one and has nothing decided in
// it, and renewed certificates are taken up without a restart.
func TestAccessControlAndTLSWithEveryCheckOn(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	s := startSecured(ctx, t)
	job := heldJob("private")
	if _, _, err := s.API().Jobs().Register(job, nil); err != nil {
		t.Fatal(err)
	}
	mine := s.token(t, "mine", `namespace "default" { capabilities = ["read-job", "submit-job"] }`)
	other := s.token(t, "other", `namespace "other" { capabilities = ["read-job", "submit-job"] }
node { policy = "read" }`)
	const record = "/v1/decision/default/private/main"
	s.eventually(ctx, t, "the job is placed and its record shown to its own", func() bool {
		status, _ := s.get(t, mine, record)
		return status == http.StatusOK
	})

	t.Run("pages", func(t *testing.T) {
		for _, c := range []struct {
			token, path string
			status      int
			shows       bool
		}{
			{"", "/", 401, false},
			{"", record, 401, false},
			{"11111111-2222-3333-4444-555555555555", record, 401, false},
			{other, "/", 200, false},
			{other, record, 404, false},
			{other, "/v1/decisions", 200, false},
			{other, "/v1/evaluations", 200, false},
			{other, "/v1/nodes", 200, false},
			{other, "/v1/profiles", 200, false},
			{mine, "/v1/decisions", 200, true},
			{mine, "/job/default/private/main", 200, true},
			{mine, "/v1/nodes", 403, false},
			{s.Token(), "/v1/decisions", 200, true},
		} {
			status, body := s.get(t, c.token, c.path)
			if status != c.status || strings.Contains(body, "private") != c.shows {
				t.Errorf("%s with token %.4s…: status %d, shows the job: %v:\n%.400s", c.path, c.token, status, !c.shows, body)
			}
		}
	})
	t.Run("decisions before the registration", func(t *testing.T) {
		before := len(s.jobs(t))
		for token, want := range map[string]int{"": 401, other: 403, mine: 200} {
			if status, body := s.admit(t, token, heldJob("next")); status != want {
				t.Errorf("token %.4s…: status %d: %s", token, status, body)
			}
		}
		if now := len(s.jobs(t)); now != before {
			t.Errorf("there were %d jobs, and now %d", before, now)
		}
	})
	t.Run("command line", func(t *testing.T) {
		for _, address := range []string{"", s.url} {
			cmd := exec.CommandContext(ctx, filepath.Join("..", "bin", "nomad-placer"), "job", "explain", "private")
			cmd.Env = append(s.Env(os.Environ()), "NOMAD_PLACER_ADDR="+address)
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "private") {
				t.Errorf("records at %q: %v\n%s", address, err, out)
			}
		}
	})
	t.Run("a caller without a certificate", func(t *testing.T) {
		bare := s.caller(t, authority.Pair{})
		if answer, err := bare.Get(s.url + "/healthz"); err == nil {
			_ = answer.Body.Close()
			t.Error("it is answered")
		}
	})
	t.Run("renewed certificates", func(t *testing.T) { s.renew(ctx, t) })
}

// renew makes the agent's certificate anew, which is that of its pages and the one it
// shows Nomad.
func (s *secured) renew(ctx context.Context, t *testing.T) {
	first := s.serial(t)
	if _, err := s.Authority().Issue("agent"); err != nil {
		t.Fatal(err)
	}
	s.eventually(ctx, t, "the pages show the renewed certificate", func() bool { return s.serial(t) != first })
	// What no token has asked yet is asked of Nomad now.
	fresh := s.token(t, "fresh", `namespace "default" { capabilities = ["read-job"] }`)
	s.eventually(ctx, t, "Nomad is asked after the renewal", func() bool {
		status, _ := s.get(t, fresh, "/v1/decisions")
		return status == http.StatusOK
	})
	s.eventually(ctx, t, "the agent says that it read both anew", func() bool {
		text := s.said()
		return strings.Contains(text, "the listener's certificate were read again") && strings.Contains(text, "the certificates for Nomad were read again")
	})
}

func startSecured(ctx context.Context, t *testing.T) *secured {
	t.Helper()
	r, err := rig.Start(ctx, rig.Options{Bin: filepath.Join("..", "bin"), BasePort: tlsTestPort, RunID: "e2e-tls", TLS: true, Clients: []cluster.Client{{Name: "alpha"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(context.WithoutCancel(ctx)); err != nil {
			t.Error(err)
		}
	})
	if err := r.CreateHoldPool(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.API().Namespaces().Register(&api.Namespace{Name: "other"}, nil); err != nil {
		t.Fatal(err)
	}
	s := &secured{Rig: r, url: fmt.Sprintf("https://127.0.0.1:%d", tlsAgentPort), log: filepath.Join(t.TempDir(), "agent.log")}
	if s.own, err = r.Authority().Issue("agent"); err != nil {
		t.Fatal(err)
	}
	s.client = s.caller(t, s.own)
	s.startAgent(t)
	s.eventually(ctx, t, "the agent leads", func() bool {
		leader, err := r.World.Leader(ctx)
		return err == nil && leader.Address == s.url
	})
	return s
}

func (s *secured) startAgent(t *testing.T) {
	t.Helper()
	ca := s.Authority().File()
	agent := exec.Command(filepath.Join("..", "bin", "nomad-placer"), "agent", "-listen", strings.TrimPrefix(s.url, "https://"),
		"-address", s.Addr(), "-ca-cert", ca, "-client-cert", s.own.Cert, "-client-key", s.own.Key,
		"-tls-cert-file", s.own.Cert, "-tls-key-file", s.own.Key, "-tls-client-ca-file", ca, "-tls-verify-client")
	agent.Env = []string{"NOMAD_TOKEN=" + s.Token()}
	log, err := os.Create(s.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	agent.Stdout, agent.Stderr = log, log
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = agent.Process.Signal(syscall.SIGTERM) // then it is gone already
		_ = agent.Wait()
		if t.Failed() {
			t.Logf("the agent's log:\n%s", s.said())
		}
	})
}

// said is the agent's log.
func (s *secured) said() string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// caller reaches the agent's pages, with a certificate or without.
func (s *secured) caller(t *testing.T, own authority.Pair) *http.Client {
	t.Helper()
	text, err := os.ReadFile(s.Authority().File())
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	config.RootCAs.AppendCertsFromPEM(text)
	if own.Cert != "" {
		pair, err := tls.LoadX509KeyPair(own.Cert, own.Key)
		if err != nil {
			t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}, Timeout: 20 * time.Second}
}

// token makes one with these rules.
func (s *secured) token(t *testing.T, name, rules string) string {
	t.Helper()
	if _, err := s.API().ACLPolicies().Upsert(&api.ACLPolicy{Name: name, Rules: rules}, nil); err != nil {
		t.Fatal(err)
	}
	token, _, err := s.API().ACLTokens().Create(&api.ACLToken{Name: name, Type: "client", Policies: []string{name}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return token.SecretID
}

func (s *secured) get(t *testing.T, token, path string) (status int, body string) {
	t.Helper()
	return s.send(t, http.MethodGet, token, path, nil)
}

func (s *secured) admit(t *testing.T, token string, job *api.Job) (status int, body string) {
	t.Helper()
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	return s.send(t, http.MethodPost, token, "/v1/admit", text)
}

func (s *secured) send(t *testing.T, method, token, path string, data []byte) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// serial is that of the certificate of the pages.
func (s *secured) serial(t *testing.T) string {
	t.Helper()
	answer, err := s.client.Get(s.url + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.TLS.PeerCertificates[0].SerialNumber.String()
}

func (s *secured) jobs(t *testing.T) []*api.JobListStub {
	t.Helper()
	list, _, err := s.API().Jobs().List(&api.QueryOptions{Namespace: "*"})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func (s *secured) eventually(ctx context.Context, t *testing.T, what string, is func() bool) {
	t.Helper()
	for !is() {
		select {
		case <-ctx.Done():
			t.Fatalf("not so in time: %s\n%s", what, s.said())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// heldJob has no target and needs no profile.
func heldJob(id string) *api.Job {
	task := api.NewTask("main", "raw_exec").SetConfig("command", "/bin/sleep").SetConfig("args", []string{"600"})
	group := api.NewTaskGroup("main", 1).AddTask(task)
	group.Meta = map[string]string{"performance": "target {\n best_effort = true\n}\nprofile {\n skip = true\n}"}
	job := api.NewServiceJob(id, id, "global", 50).AddTaskGroup(group)
	pool := rig.HoldPool
	job.NodePool = &pool
	return job
}
