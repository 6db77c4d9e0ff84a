package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
)

// trace profiles the agent while the rounds run, where the options ask for it;
// the returned function ends that.
func (r *rig) trace(ctx context.Context, say func(string)) func() {
	if r.pprof == "" {
		return func() {}
	}
	fetch := func(ctx context.Context, path, file string) {
		if file == "" {
			return
		}
		if err := download(ctx, "http://"+r.pprof+path, file); err != nil && ctx.Err() == nil {
			say("profile: " + err.Error())
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		fetch(ctx, fmt.Sprintf("/debug/pprof/profile?seconds=%d", r.options.traceSeconds), r.options.cpuTrace)
	}()
	return func() {
		fetch(ctx, "/debug/pprof/heap?gc=1", r.options.heap)
		<-done
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
