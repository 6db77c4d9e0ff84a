package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// maxReadBytes of an answer to our own reads.
const maxReadBytes = 64 << 20

// tokenHeaders are how a request shows who it is from.
var tokenHeaders = []string{"X-Nomad-Token", "Authorization"}

// asker reads Nomad as the user who sent a request, so that nobody reads through
// us what they may not read themselves.
type asker struct {
	*Proxy
	tokens http.Header
	region string
}

func (p *Proxy) as(r *http.Request) asker {
	a := asker{Proxy: p, tokens: http.Header{}, region: r.URL.Query().Get("region")}
	for _, h := range tokenHeaders {
		if v := r.Header.Get(h); v != "" {
			a.tokens.Set(h, v)
		}
	}
	return a
}

// get asks for a path, which is escaped as it has to be. The caller closes the
// answer.
func (a asker) get(ctx context.Context, path string, query url.Values) (*http.Response, error) {
	if a.region != "" {
		query.Set("region", a.region)
	}
	target := *a.o.Nomad
	target.Path, target.RawPath = "", ""
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(target.String(), "/")+path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	for h, v := range a.tokens {
		r.Header[h] = v
	}
	return a.o.Transport.RoundTrip(r)
}

// read decodes an answer. With an index in the query it waits for a change.
func (a asker) read(ctx context.Context, path string, query url.Values, out any) (index uint64, err error) {
	answer, err := a.get(ctx, path, query)
	if err != nil {
		return 0, err
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxReadBytes))
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return 0, err
	}
	if answer.StatusCode != http.StatusOK {
		said := strings.TrimSpace(string(data[:min(len(data), 200)]))
		return 0, &refusedError{answer.StatusCode, fmt.Sprintf("GET %s: %s: %s", path, answer.Status, said)}
	}
	index, err = strconv.ParseUint(answer.Header.Get("X-Nomad-Index"), 10, 64)
	if err != nil {
		index = 0 // then we look without waiting
	}
	return index, decode(data, out)
}

// refusedError is an answer that is no success.
type refusedError struct {
	status int
	said   string
}

func (e *refusedError) Error() string { return e.said }
