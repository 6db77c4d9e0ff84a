package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
)

// trace profiles the agent while the rounds run, where the options ask for it;
// the returned function ends that.
func (r *rig) trace(ctx context.Context, say func(string)) func() {
	fetch := func(server, path, file string) {
		if file == "" {
			return
		}
		if err := download(ctx, server+path, file); err != nil && ctx.Err() == nil {
			say("profile: " + err.Error())
		}
	}
	agent := "http://" + r.agent.pprof
	profile := fmt.Sprintf("/debug/pprof/profile?seconds=%d", r.options.traceSeconds)
	var done sync.WaitGroup
	done.Go(func() { fetch(agent, profile, r.options.cpuTrace) })
	done.Go(func() { fetch(r.cluster.Addr(), profile, r.options.serverTrace) })
	return func() {
		fetch(agent, "/debug/pprof/heap?gc=1", r.options.heap)
		done.Wait()
	}
}

func download(ctx context.Context, url, file string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, response.Body); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
