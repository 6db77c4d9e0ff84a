package nomadapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/certificate"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/rights"
)

// allNamespaces is Nomad's wildcard in list requests.
const allNamespaces = "*"

// Bounds on talking to Nomad, chosen by us.
const (
	requestTimeout = 15 * time.Second // one ordinary request
	retryAttempts  = 4                // the first try included
	retryFirstWait = 100 * time.Millisecond
	retryMaxWait   = 2 * time.Second
)

// client is raw JSON over Nomad's HTTP API. Numbers stay json.Number, so that a
// job goes back exactly as it came, unknown fields included.
type client struct {
	api      *api.Client
	commands *api.Client            // for commands in tasks: the api package opens these itself, and only over a plain transport
	callers  *api.Client            // for questions with other people's tokens: it has none of its own
	fresh    *certificate.Transport // nil: there are no files of certificates
	token    *tokenFile             // nil: it is fixed
	fixed    string
	book     *rights.Book
	clock    cluster.Clock
}

// idleConnections are kept open to Nomad: as many as requests are usually under
// way. The api package's own client keeps one more than there are CPUs, and a
// burst of jobs would open a connection for each request.
const idleConnections = 32

// HTTPClient is the api package's default client with more idle connections, and with
// answers that come as they are: to compress lists and events costs Nomad time, and they
// come from the agent on our own machine. An address that is a socket is replaced by one
// that stands for it.
func HTTPClient(conf *api.Config) (*http.Client, error) {
	transport, err := transportFor(conf)
	if transport == nil {
		return nil, err
	}
	return &http.Client{Transport: plain{transport}}, nil
}

// transportFor is nil where a test has replaced the default one.
func transportFor(conf *api.Config) (*http.Transport, error) {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, nil
	}
	transport := base.Clone()
	transport.MaxIdleConnsPerHost = idleConnections
	transport.ForceAttemptHTTP2 = false // as the api package: its streams need HTTP/1
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if at, err := url.Parse(conf.Address); err == nil && at.Scheme == "unix" {
		transport.Proxy = nil
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", at.Path)
		}
		conf.Address = "http://127.0.0.1"
	}
	return transport, configureTLS(transport, conf.TLSConfig)
}

// configureTLS reads the client's certificate again for every connection: it may have
// been renewed. Half of a renewal is no reason to fail.
func configureTLS(transport *http.Transport, conf *api.TLSConfig) error {
	if err := api.ConfigureTLS(&http.Client{Transport: transport}, conf); err != nil {
		return err
	}
	if conf == nil || conf.ClientCert == "" {
		return nil
	}
	first := transport.TLSClientConfig.Certificates[0]
	transport.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		if pair, err := tls.LoadX509KeyPair(conf.ClientCert, conf.ClientKey); err == nil {
			return &pair, nil
		}
		return &first, nil
	}
	return nil
}

// FreshTransport is made again by remake when the files of certificates for Nomad change.
// It is nil where there are none.
func FreshTransport(conf *api.TLSConfig, remake func() (*http.Transport, error), now func() time.Time, log *slog.Logger) (*certificate.Transport, error) {
	if conf == nil || conf.CACert == "" && conf.CAPath == "" && conf.ClientCert == "" {
		return nil, nil
	}
	return certificate.NewTransport([]string{conf.CACert, conf.CAPath, conf.ClientCert, conf.ClientKey}, remake, now, log)
}

// plain asks for answers that are not compressed, whatever the api package asks for.
type plain struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (p plain) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context()) // a round tripper leaves its request alone
	r.Header.Set("Accept-Encoding", "identity")
	return p.RoundTripper.RoundTrip(r)
}

// CloseIdleConnections is called by http.Client's method of that name.
func (p plain) CloseIdleConnections() {
	if c, ok := p.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// asker sends the token as it is now, and notes which rights were used.
type asker struct {
	plain
	token *tokenFile // nil: the request has its token
	book  *rights.Book
}

// RoundTrip implements http.RoundTripper.
func (a asker) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.token != nil {
		r = r.Clone(r.Context())
		r.Header.Set(tokenHeader, a.token.current())
	}
	answer, err := a.plain.RoundTrip(r)
	if err == nil && answer.StatusCode != http.StatusForbidden {
		a.book.NoteCall(r)
	}
	return answer, err
}

// get decodes the answer of path into out and returns the index of the answer.
// It is retried: reading twice violates no bound.
func (c *client) get(ctx context.Context, path string, q api.QueryOptions, out any) (uint64, error) {
	var index uint64
	err := c.retry(ctx, func(ctx context.Context) error {
		var body json.RawMessage
		meta, err := c.api.Raw().Query(path, &body, q.WithContext(ctx))
		if err != nil {
			return err
		}
		index = meta.LastIndex
		return decodeNumbers(bytes.NewReader(body), out)
	})
	if err != nil {
		return 0, fmt.Errorf("GET %s: %w", path, err)
	}
	return index, nil
}

// stream hands the body of path to read, which decodes as it goes.
func (c *client) stream(ctx context.Context, path string, q api.QueryOptions, read func(io.Reader) error) error {
	err := c.retry(ctx, func(ctx context.Context) error {
		body, err := c.api.Raw().Response(path, q.WithContext(ctx))
		if err != nil {
			return err
		}
		defer body.Close()
		return read(body)
	})
	if err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}

// write puts in at path once, unless ctx is of a leader who leads no more.
func (c *client) write(ctx context.Context, path, namespace string, in, out any) error {
	if err := cluster.MayWrite(ctx); err != nil {
		return fmt.Errorf("PUT %s: %w", path, err)
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	q := (&api.WriteOptions{Namespace: namespace}).WithContext(ctx)
	if _, err := c.api.Raw().Write(path, in, out, q); err != nil {
		return fmt.Errorf("PUT %s: %w", path, err)
	}
	if r, ok := in.(registration); ok {
		for _, group := range r.Job.objects("TaskGroups") {
			for name := range group.object("Volumes") {
				c.book.Note(rights.Mount(group.object("Volumes").object(name).text("Type"))...)
			}
		}
	}
	return nil
}

// writeSafe is write with retries, for writes that may be done twice: those that
// are compare-and-set, or that set the same value again.
func (c *client) writeSafe(ctx context.Context, path, namespace string, in, out any) error {
	return c.retry(ctx, func(ctx context.Context) error { return c.write(ctx, path, namespace, in, out) })
}

// delete removes path; deleting twice violates no bound.
func (c *client) delete(ctx context.Context, path, namespace string) error {
	err := c.retry(ctx, func(ctx context.Context) error {
		if err := cluster.MayWrite(ctx); err != nil {
			return err
		}
		q := (&api.WriteOptions{Namespace: namespace}).WithContext(ctx)
		_, err := c.api.Raw().Delete(path, nil, q)
		return err
	})
	if err != nil {
		return fmt.Errorf("DELETE %s: %w", path, err)
	}
	return nil
}

// retry calls f until it succeeds, fails for good, or the attempts are used up.
func (c *client) retry(ctx context.Context, f func(context.Context) error) error {
	wait := retryFirstWait
	for attempt := 1; ; attempt++ {
		err := once(ctx, f)
		if err == nil || attempt == retryAttempts || !retriable(err) || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-c.clock.After(wait):
		}
		wait = min(2*wait, retryMaxWait)
	}
}

func once(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return f(ctx)
}

// retriable says whether the same request may succeed a moment later: the
// connection failed, or a server answered that it has no leader or is busy.
// Nomad also answers 500 to some requests that can never succeed, such as a lost
// compare-and-set; those are not.
func retriable(err error) bool {
	if isConflict(err) || errors.Is(err, context.Canceled) {
		return false
	}
	switch status := statusOf(err); {
	case status == 0:
		return isConnection(err)
	case status == http.StatusTooManyRequests:
		return true
	default:
		return status >= 500
	}
}

// isFinal reports whether Nomad judged a request and will judge it the same again: the
// token may not do it, or Nomad does not accept the job.
func isFinal(err error) bool {
	switch status := statusOf(err); status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	default:
		return status >= 400 && status < 500
	}
}

// isConnection reports whether err came from below HTTP; a body that did not
// decode is not such an error.
func isConnection(err error) bool {
	var urlError *url.Error
	return errors.As(err, &urlError) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// statusOf is the HTTP status an error carries, 0 where there is none.
func statusOf(err error) int {
	var unexpected api.UnexpectedResponseError
	if errors.As(err, &unexpected) {
		return unexpected.StatusCode()
	}
	return 0
}

func isNotFound(err error) bool { return statusOf(err) == http.StatusNotFound }

// isConflict reports a lost compare-and-set of a job registration, which Nomad
// answers with status 500 and this text.
func isConflict(err error) bool {
	return err != nil && strings.Contains(err.Error(), "Enforcing job modify index")
}

// bodyOf is what the server said, without the api package's wrapping.
func bodyOf(err error) string {
	var unexpected api.UnexpectedResponseError
	if errors.As(err, &unexpected) && unexpected.HasBody() {
		return strings.TrimSpace(unexpected.Body())
	}
	return err.Error()
}

func decodeNumbers(r io.Reader, out any) error {
	d := json.NewDecoder(r)
	d.UseNumber()
	return d.Decode(out)
}

func jobPath(id cluster.JobID, suffix string) string {
	return "/v1/job/" + url.PathEscape(id.ID) + suffix
}

// rawJob reads a job as it is, cluster.ErrGone where it is stopped or purged.
func (c *client) rawJob(ctx context.Context, id cluster.JobID) (object, error) {
	var job object
	_, err := c.get(ctx, jobPath(id, ""), api.QueryOptions{Namespace: id.Namespace}, &job)
	if isNotFound(err) {
		return nil, fmt.Errorf("job %s: %w", id, cluster.ErrGone)
	}
	if err != nil {
		return nil, err
	}
	if job.boolean("Stop") {
		return nil, fmt.Errorf("job %s is stopped: %w", id, cluster.ErrGone)
	}
	return job, nil
}

// atOnce is how many reads of one kind are under way side by side: enough to hide
// the latency, few enough to leave Nomad to others.
const atOnce = 8

// eachAtOnce calls read for 0..n-1, atOnce at a time, and done after each that
// succeeded, one at a time. The first error ends it.
func eachAtOnce(ctx context.Context, n int, read func(ctx context.Context, i int) error, done func(i int)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range min(n, atOnce) {
		workers.Go(func() {
			for i := range next {
				if err := read(ctx, i); err != nil {
					cancel(err)
					continue
				}
				mu.Lock()
				done(i)
				mu.Unlock()
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}
