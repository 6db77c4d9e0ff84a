package preflight

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// readOnly lets only reads through, and keeps what the first answer tells of the
// one who answered.
type readOnly struct {
	base http.RoundTripper
	now  func() time.Time

	mu    sync.Mutex
	known bool
	first answer
}

// answer is what any HTTP answer tells, whatever was asked.
type answer struct {
	difference difference
	dated      bool
	tls        *tls.ConnectionState // nil without TLS
}

// RoundTrip implements http.RoundTripper.
func (t *readOnly) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		return nil, fmt.Errorf("%s %s was not sent: checks only read", r.Method, r.URL.Path)
	}
	sent := t.now()
	response, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	t.note(sent, t.now(), response)
	return response, nil
}

func (t *readOnly) note(sent, received time.Time, r *http.Response) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known {
		return
	}
	t.known = true
	t.first.tls = r.TLS
	if date, err := http.ParseTime(r.Header.Get("Date")); err == nil {
		t.first.difference, t.first.dated = differenceOf(date, sent, received), true
	}
}

func (t *readOnly) answer() (a answer, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.first, t.known
}

// difference is how far a clock is ahead of ours: between least and most.
type difference struct{ least, most time.Duration }

// differenceOf uses that a Date header is cut to whole seconds, and that it was
// written between sending the request and receiving the answer.
func differenceOf(date, sent, received time.Time) difference {
	return difference{date.Sub(received), date.Add(time.Second).Sub(sent)}
}

// surely is the least that the clocks differ by, atMost the most.
func (d difference) surely() time.Duration { return max(0, d.least, -d.most) }
func (d difference) atMost() time.Duration { return max(d.most, -d.least) }
