//go:build e2e

package placement

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

// limitedPort is of a server with Nomad's own limits, which the shared cluster has not.
const limitedPort = 19700

// Nomad takes 100 connections from one address, and the proxy is one for all its users:
// who is one too many reads why, and with -max-requests others on the host still get
// through.
func TestNomadsLimitOfConnections(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := cluster.Start(ctx, cluster.Config{
		RunID: "e2e-limits", BasePort: limitedPort, ServerOnly: true,
		ServerHCL: "limits {\n  http_max_conns_per_client = 100\n}\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	const many = 150
	bounded := proxyBefore(t, c.Env(os.Environ()), "-max-requests", "50")
	answers := block(ctx, t, bounded, many, func() {
		if status, said := get(ctx, c.Addr()+"/v1/status/leader"); status != http.StatusOK {
			t.Errorf("another program on the host gets %d %s", status, said)
		}
	})
	if answers[http.StatusOK] != 50 || answers[http.StatusTooManyRequests] != many-50 {
		t.Errorf("with -max-requests 50 the answers are %v", answers)
	}
	free := proxyBefore(t, c.Env(os.Environ()))
	answers = block(ctx, t, free, many, func() {})
	if answers[http.StatusOK] < 80 || answers[http.StatusOK] == many {
		t.Errorf("the answers are %v: Nomad's limit was not met", answers)
	}
}

// block has blocking queries answered, and calls during when all that will be refused
// have been. Refusals have to say why.
func block(ctx context.Context, t *testing.T, address string, many int, during func()) (answers map[int]int) {
	t.Helper()
	answers = map[int]int{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for range many {
		group.Go(func() {
			status, said := get(ctx, address+"/v1/jobs?index=999999&wait=5s")
			mu.Lock()
			defer mu.Unlock()
			answers[status]++
			if status != http.StatusOK && status != http.StatusTooManyRequests && !strings.Contains(said, "http_max_conns_per_client") {
				t.Errorf("%d %s", status, said)
			}
		})
	}
	time.Sleep(2 * time.Second) // the queries block for five
	during()
	group.Wait()
	return answers
}

func get(ctx context.Context, url string) (status int, said string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err.Error()
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(text)
}
