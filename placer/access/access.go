package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Nomad judges callers. Each question but the first is asked with the caller's own
// token.
type Nomad interface {
	// AccessControlled reports whether access control is on.
	AccessControlled(ctx context.Context) (bool, error)
	// KnowsToken reports whether the token is good at all.
	KnowsToken(ctx context.Context, token string) (bool, error)
	MayReadJobs(ctx context.Context, token, namespace string) (bool, error)
	MaySubmitJobs(ctx context.Context, token, namespace string) (bool, error)
	MayReadNodes(ctx context.Context, token string) (bool, error)
	MayReadVariables(ctx context.Context, token, namespace, prefix string) (bool, error)
}

// Bounds, chosen by us. A right that is taken away in Nomad ends here after GrantedFor.
const (
	GrantedFor = 30 * time.Second
	RefusedFor = 5 * time.Second

	keptAnswers = 8192
	askWithin   = 5 * time.Second // one question to Nomad

	triesPerSecond = 1 // of tokens that Nomad does not know, from one source
	triesBurst     = 20

	questionsPerSecond = 100 // to Nomad, for one token that it knows
	questionsBurst     = 2000

	admitsPerSecond = 100 // decisions before a registration, for one source
	admitsBurst     = 500

	keptSources = 4096 // whose tries and questions are counted
)

// Options of a Gate.
type Options struct {
	Nomad Nomad
	// RecordsNamespace and RecordsPrefix are where the placer's Variables are: who may
	// read them may see everything that is recorded.
	RecordsNamespace, RecordsPrefix string
	Now                             func() time.Time
	Log                             *slog.Logger
}

// Gate knows the callers of one agent.
type Gate struct {
	o        Options
	salt     []byte // of the hashes, so that none is worth anything elsewhere
	verdicts verdicts
	tries    limits
	asked    limits
	admits   limits
	sessions sessions
	crossing http.CrossOriginProtection
}

// New returns a gate.
func New(o Options) (*Gate, error) {
	if o.Nomad == nil || o.Now == nil || o.Log == nil {
		return nil, errors.New("access: Nomad, a clock and a log are needed")
	}
	g := &Gate{
		o: o, salt: []byte(rand.Text()),
		tries: newLimits(triesPerSecond, triesBurst), asked: newLimits(questionsPerSecond, questionsBurst),
		admits: newLimits(admitsPerSecond, admitsBurst),
	}
	g.verdicts, g.sessions = newVerdicts(o.Now), newSessions(o.Now)
	return g, nil
}

// Refusal is why a caller gets no answer, in a sentence for the caller.
type Refusal struct {
	Status     int // of HTTP
	Message    string
	RetryAfter time.Duration // 0: asking again is no use
}

func (r *Refusal) Error() string { return r.Message }

// Header tells programs when to ask again, and what is wanted of them.
func (r *Refusal) Header(h http.Header) {
	if r.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(r.RetryAfter.Seconds()))))
	}
	if r.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="nomad-placer"`)
	}
}

// errNoToken and errUnknownToken are answers to a request without a good token.
var (
	errNoToken = &Refusal{Status: http.StatusUnauthorized,
		Message: "a Nomad token is needed: log in with one, or send it in the header X-Nomad-Token (or Authorization: Bearer)"}
	errUnknownToken = &Refusal{Status: http.StatusUnauthorized,
		Message: "Nomad does not know this token, or it has expired: give one that is good"}
	errLoginEnded = &Refusal{Status: http.StatusUnauthorized, Message: "the login has ended: log in again"}
)

// Caller is who sent a request.
type Caller struct {
	gate   *Gate
	token  string // empty: access control is off
	hash   hash
	source string
	// LoggedIn: by the form and not by a header, so that a logout means something.
	LoggedIn bool
}

type hash [sha256.Size]byte

func (g *Gate) hashOf(token string) hash {
	return sha256.Sum256(append(g.salt[:len(g.salt):len(g.salt)], token...))
}

// Caller finds out who sent a request: by its headers, else by its login.
func (g *Gate) Caller(r *http.Request) (*Caller, error) {
	return g.caller(r, true)
}

// Program is Caller for requests that no browser sends by itself: a login does not
// count.
func (g *Gate) Program(r *http.Request) (*Caller, error) {
	return g.caller(r, false)
}

func (g *Gate) caller(r *http.Request, logins bool) (*Caller, error) {
	on, err := g.verdicts.get(r.Context(), question{right: "access control"}, g.o.Nomad.AccessControlled)
	if err != nil {
		return nil, g.unanswered(err)
	}
	if !on {
		return &Caller{gate: g}, nil
	}
	token, loggedIn := tokenOf(r), false
	if token == "" && logins {
		token, loggedIn = g.sessions.token(r)
	}
	if token == "" {
		if logins && g.sessions.named(r) {
			return nil, errLoginEnded
		}
		return nil, errNoToken
	}
	c, err := g.known(r.Context(), token, sourceOf(r))
	if err != nil {
		return nil, err
	}
	c.LoggedIn = loggedIn
	return c, nil
}

// Take counts a request for a decision before a registration, and refuses it where its
// source sends too many. Each keeps room on nodes free for a while.
func (g *Gate) Take(r *http.Request) error {
	if _, wait := g.admits.take(sourceOf(r), g.o.Now()); wait > 0 {
		return &Refusal{http.StatusTooManyRequests, "too many jobs to decide on come from your address: register them, and they are held until they are decided on", wait}
	}
	return nil
}

// known is the caller with a token, if Nomad knows it. One that it does not know costs
// the source a try.
func (g *Gate) known(ctx context.Context, token, source string) (*Caller, error) {
	if !plausible(token) {
		return nil, errUnknownToken
	}
	c := &Caller{gate: g, token: token, hash: g.hashOf(token), source: source}
	q := question{c.hash, "known", ""}
	yes, kept := g.verdicts.kept(q)
	if !kept {
		giveBack, wait := g.tries.take(source, g.o.Now())
		if wait > 0 {
			return nil, &Refusal{http.StatusTooManyRequests, "too many tokens that Nomad does not know came from your address: try again later", wait}
		}
		var err error
		yes, err = g.verdicts.get(ctx, q, func(ctx context.Context) (bool, error) { return g.o.Nomad.KnowsToken(ctx, token) })
		if yes || err != nil {
			giveBack()
		}
		if err != nil {
			return nil, g.unanswered(err)
		}
	}
	if !yes {
		return nil, errUnknownToken
	}
	return c, nil
}

// unanswered is said where Nomad could not be asked. Why is for the log: it names
// addresses.
func (g *Gate) unanswered(err error) error {
	if errors.As(err, new(*Refusal)) {
		return err
	}
	g.o.Log.Warn("Nomad could not be asked what a caller may see; nothing is shown", "error", err)
	return &Refusal{http.StatusServiceUnavailable,
		"Nomad does not answer, so it is not known what this token may see, and nothing is shown: try again when it answers", RefusedFor}
}

// MayReadJobs reports whether the caller may read the jobs of a namespace.
func (c *Caller) MayReadJobs(ctx context.Context, namespace string) (bool, error) {
	return c.may(ctx, "read-job", namespace, func(ctx context.Context) (bool, error) {
		return c.gate.o.Nomad.MayReadJobs(ctx, c.token, namespace)
	})
}

// MaySubmitJobs reports whether the caller may submit jobs in a namespace.
func (c *Caller) MaySubmitJobs(ctx context.Context, namespace string) (bool, error) {
	return c.may(ctx, "submit-job", namespace, func(ctx context.Context) (bool, error) {
		return c.gate.o.Nomad.MaySubmitJobs(ctx, c.token, namespace)
	})
}

// MayReadNodes reports whether the caller may read nodes.
func (c *Caller) MayReadNodes(ctx context.Context) (bool, error) {
	return c.may(ctx, "node read", "default", func(ctx context.Context) (bool, error) {
		return c.gate.o.Nomad.MayReadNodes(ctx, c.token)
	})
}

// MayReadRecords reports whether the caller may read all that is recorded.
func (c *Caller) MayReadRecords(ctx context.Context) (bool, error) {
	o := c.gate.o
	return c.may(ctx, "records", o.RecordsNamespace, func(ctx context.Context) (bool, error) {
		return o.Nomad.MayReadVariables(ctx, c.token, o.RecordsNamespace, o.RecordsPrefix)
	})
}

// MayReadRecordsOf reports whether the caller may read what is recorded of the jobs of
// a namespace: with all records, or with the jobs themselves.
func (c *Caller) MayReadRecordsOf(ctx context.Context, namespace string) (bool, error) {
	all, err := c.MayReadRecords(ctx)
	if all || err != nil {
		return all, err
	}
	return c.MayReadJobs(ctx, namespace)
}

// namespaceName is what a namespace of Nomad can be called. Others are no question:
// "*" would be one about all of them.
var namespaceName = regexp.MustCompile(`^[a-zA-Z0-9-]{1,128}$`)

func (c *Caller) may(ctx context.Context, right, namespace string, ask func(context.Context) (bool, error)) (bool, error) {
	if c.token == "" {
		return true, nil
	}
	if !namespaceName.MatchString(namespace) {
		return false, nil
	}
	yes, err := c.gate.verdicts.get(ctx, question{c.hash, right, namespace}, func(ctx context.Context) (bool, error) {
		if _, wait := c.gate.asked.take(string(c.hash[:]), c.gate.o.Now()); wait > 0 {
			return false, &Refusal{http.StatusTooManyRequests, "this token asks for more than Nomad is asked for it in a second: try again later", wait}
		}
		return ask(ctx)
	})
	if err != nil {
		return false, c.gate.unanswered(err)
	}
	return yes, nil
}

// maxTokenBytes: a secret has 36 bytes, a workload's identity some hundreds.
const maxTokenBytes = 8192

// plausible: whatever else is no token, and must not get into a header.
func plausible(token string) bool {
	return len(token) <= maxTokenBytes && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}

// tokenOf reads the headers as Nomad does.
func tokenOf(r *http.Request) string {
	if token := strings.TrimSpace(r.Header.Get("X-Nomad-Token")); token != "" {
		return token
	}
	scheme, value, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	token, _, _ := strings.Cut(strings.TrimSpace(value), " ")
	return token
}

var _ fmt.Stringer = (*Caller)(nil)

// String keeps a caller's token out of logs.
func (c *Caller) String() string { return "a caller from " + c.source }
