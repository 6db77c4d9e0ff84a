//go:build e2e

package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/dashboard"
	"github.com/nomad-placer/nomad-placer/placer/dashboard/dashboardtest"
)

// base is the path the pages are served under, as behind the proxy.
const base = "/placer"

// fixedRecords are of a cluster of that many nodes, with the fully
// recorded workload of the fixture among them.
func fixedRecords(nodes int) dashboard.Records {
	m, small := dashboardtest.Large(nodes), dashboardtest.Fixture()
	for i := range small.AllNodes {
		n := &small.AllNodes[i]
		n.Residents = append(n.Residents, cluster.Resident{Workload: m.AllDecisions[i%2].Workload, Allocations: 1, Known: true})
	}
	m.AllDecisions = append(m.AllDecisions, small.AllDecisions...)
	m.AllNodes = append(m.AllNodes, small.AllNodes...)
	for key, p := range small.AllProfiles {
		m.AllProfiles[key] = p
	}
	for w, o := range small.AllObservations {
		m.AllObservations[w] = o
	}
	for w, a := range small.AllActions {
		m.AllActions[w] = a
	}
	return fixed{m}
}

// fixed answers every question with the decision on record, as if the policy
// asked for had chosen the same nodes.
type fixed struct{ *dashboardtest.Records }

func (fixed) Policies() []string { return []string{"least-loaded", "paragon", "quasar", "tarcil"} }

func (f fixed) WhatIf(ctx context.Context, w cluster.WorkloadID, q dashboard.Question) (dashboard.Answer, error) {
	d, err := f.Decision(ctx, w)
	if err != nil {
		return dashboard.Answer{}, err
	}
	if q.Policy != "" {
		d.Policy = q.Policy
	}
	if q.Target.Kind != "" {
		d.Target = q.Target
	}
	return dashboard.Answer{Decision: d}, nil
}

// serve serves the pages of records on a free port of this machine until ctx
// ends, and returns their address.
func serve(ctx context.Context, records dashboard.Records) (string, error) {
	pages, err := dashboard.New(records, dashboard.Options{
		Base: base, Now: dashboardtest.Clock, Version: "test", NomadURL: "http://nomad.example:4646",
	})
	if err != nil {
		return "", err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("serving the pages: %w", err)
	}
	server := &http.Server{Handler: pages, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() { _ = server.Serve(listener) }() // ends with Close
	return "http://" + listener.Addr().String() + base + "/", nil
}

// run runs one of the scripts of this folder and returns what it prints.
func run(ctx context.Context, script string, args ...string) ([]byte, error) {
	_, file, _, _ := runtime.Caller(0)
	folder := filepath.Dir(file)
	if _, err := os.Stat(filepath.Join(folder, "node_modules", "axe-core")); err != nil {
		return nil, errors.New("the browser's packages are missing: run `npm ci --prefix e2e/browser`, or make setup")
	}
	cmd := exec.CommandContext(ctx, "node", append([]string{filepath.Join(folder, script)}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("%s: %w\n%s", script, err, stderr.Bytes())
	}
	return out, nil
}
