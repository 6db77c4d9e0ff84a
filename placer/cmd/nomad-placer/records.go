package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/dashboard"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/traffic"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/store/nomadvars"
)

// recordFlags say where the placer's records are read: Nomad Variables, or the
// pages of an agent.
type recordFlags struct {
	nomadFlags
	dashboard string
	namespace string
	path      string
}

func (r *recordFlags) add(f *flag.FlagSet) {
	r.nomadFlags.add(f)
	r.addOwn(f)
}

func (r *recordFlags) addOwn(f *flag.FlagSet) {
	f.StringVar(&r.dashboard, "placer-address", "", "Read records from the agent's pages at this `URL` instead of Nomad Variables. Also NOMAD_PLACER_ADDR.")
	f.StringVar(&r.namespace, "placer-namespace", api.DefaultNamespace, "The `namespace` of the placer's Variables.")
	f.StringVar(&r.path, "placer-path", nomadvars.DefaultPrefix, "The path `prefix` of the placer's Variables.")
}

// world looks for the leader where the records are.
func (r *recordFlags) world() (*nomadapi.World, error) { return r.worldWith(r.namespace) }

// records are the dashboard's records and the one lookup that only the command
// line needs.
type records interface {
	dashboard.Records
	Evaluation(context.Context, cluster.JobID) (cluster.Evaluation, error)
}

// open returns the records; nothing is read before the first call.
func (r *recordFlags) open(s *command.Shell) (records, error) {
	address := r.dashboard
	if address == "" {
		address = s.Getenv("NOMAD_PLACER_ADDR")
	}
	if address != "" {
		return newPageRecords(address, &r.nomadFlags)
	}
	st, err := r.store()
	if err != nil {
		return nil, err
	}
	world, err := r.world()
	if err != nil {
		return nil, err
	}
	eng, err := engine.New(engine.Config{World: world, Store: st, Clock: clock{s}})
	if err != nil {
		return nil, err
	}
	return engineRecords{Book: eng.Book(), engine: eng, world: world, preview: eng.Preview}, nil
}

// store is where the placer's records are kept.
func (r *recordFlags) store() (store.Store, error) {
	client, err := r.client()
	if err != nil {
		return nil, err
	}
	st, err := nomadvars.New(client, nomadvars.Options{Prefix: r.path, Namespace: r.namespace})
	if err != nil {
		return nil, fmt.Errorf("placer's records: %w", err)
	}
	return st, nil
}

// engineRecords are the record book and an engine's view of the nodes. The
// engine need not run.
type engineRecords struct {
	journal.Book
	engine  *engine.Engine
	world   *nomadapi.World
	preview previewer      // answers what if; never of an engine that runs
	traffic *traffic.Watch // nil: nothing is captured
}

// Nodes returns every node as the placer sees it now.
func (r engineRecords) Nodes(ctx context.Context) ([]cluster.NodeRecord, error) {
	return r.engine.Nodes(ctx)
}

// clock is the shell's time for the engine.
type clock struct{ s *command.Shell }

func (c clock) Now() time.Time                         { return c.s.Now() }
func (c clock) After(d time.Duration) <-chan time.Time { return c.s.After(d) }

// pageRecords read an agent's /v1 pages.
type pageRecords struct {
	base   *url.URL
	token  string // of Nomad's, for the agent to ask it what we may see
	client *http.Client
}

// maxAnswerBytes bounds one answer of an agent.
const maxAnswerBytes = 64 << 20

func newPageRecords(address string, nomad *nomadFlags) (pageRecords, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" {
		return pageRecords{}, command.UsageError("the placer's address %q is not a URL like http://127.0.0.1:9464", address)
	}
	config := api.DefaultConfig()
	nomad.configure(config)
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return pageRecords{}, errors.New("the placer's address: no way to reach it")
	}
	transport = transport.Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	client := &http.Client{Timeout: 30 * time.Second, Transport: transport, CheckRedirect: stayHere}
	if err := api.ConfigureTLS(client, config.TLSConfig); err != nil {
		return pageRecords{}, fmt.Errorf("certificates for the placer's agent: %w", err)
	}
	return pageRecords{base, config.SecretID, client}, nil
}

// stayHere follows no redirect: the token in the header is for the address that was
// given.
func stayHere(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func fetch[T any](ctx context.Context, p pageRecords, segments ...string) (T, error) {
	var v T
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	address := strings.TrimSuffix(p.base.String(), "/") + "/v1/" + strings.Join(segments, "/")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return v, err
	}
	if p.token != "" {
		request.Header.Set(nomadHeader, p.token)
	}
	answer, err := p.client.Do(request)
	if err != nil {
		return v, fmt.Errorf("placer's agent: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswerBytes))
	if err != nil {
		return v, fmt.Errorf("placer's agent: %w", err)
	}
	switch answer.StatusCode {
	case http.StatusNotFound:
		return v, cluster.ErrNoRecord
	case http.StatusUnauthorized:
		return v, errors.New("the placer's agent shows nothing without a Nomad token that is good: give one with -token or NOMAD_TOKEN")
	}
	if answer.StatusCode != http.StatusOK {
		return v, fmt.Errorf("placer's agent answered %s: %s", answer.Status, wording.Shorten(strings.TrimSpace(string(body)), 200))
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return v, fmt.Errorf("placer's agent: %w", err)
	}
	return v, nil
}

func (p pageRecords) Decisions(ctx context.Context) ([]cluster.Decision, error) {
	return fetch[[]cluster.Decision](ctx, p, "decisions")
}

func (p pageRecords) Decision(ctx context.Context, w cluster.WorkloadID) (cluster.Decision, error) {
	return fetch[cluster.Decision](ctx, p, "decision", w.Namespace, w.Job, w.Group)
}

func (p pageRecords) Evaluations(ctx context.Context) ([]cluster.Evaluation, error) {
	return fetch[[]cluster.Evaluation](ctx, p, "evaluations")
}

func (p pageRecords) Evaluation(ctx context.Context, j cluster.JobID) (cluster.Evaluation, error) {
	all, err := p.Evaluations(ctx)
	if err != nil {
		return cluster.Evaluation{}, err
	}
	for _, e := range all {
		if e.Job == j {
			return e, nil
		}
	}
	return cluster.Evaluation{}, cluster.ErrNoRecord
}

func (p pageRecords) Profiles(ctx context.Context) ([]string, error) {
	return fetch[[]string](ctx, p, "profiles")
}

func (p pageRecords) Profile(ctx context.Context, key string) (profile.Profile, error) {
	return fetch[profile.Profile](ctx, p, "profile", key)
}

func (p pageRecords) Productions(ctx context.Context) ([]string, error) {
	return fetch[[]string](ctx, p, "productions")
}

func (p pageRecords) Production(ctx context.Context, key string) (profile.Production, error) {
	return fetch[profile.Production](ctx, p, "production", key)
}

func (p pageRecords) Nodes(ctx context.Context) ([]cluster.NodeRecord, error) {
	return fetch[[]cluster.NodeRecord](ctx, p, "nodes")
}

func (p pageRecords) DiskLimits(ctx context.Context, w cluster.WorkloadID) ([]cluster.DiskLimit, error) {
	return fetch[[]cluster.DiskLimit](ctx, p, "disk-limits", w.Namespace, w.Job, w.Group)
}

func (p pageRecords) Observations(ctx context.Context, w cluster.WorkloadID) ([]cluster.Observation, error) {
	return fetch[[]cluster.Observation](ctx, p, "observations", w.Namespace, w.Job, w.Group)
}
