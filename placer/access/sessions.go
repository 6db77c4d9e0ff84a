package access

import (
	"crypto/rand"
	"crypto/sha256"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Bounds on logins, chosen by us.
const (
	LoginLasts   = 8 * time.Hour
	keptSessions = 1024

	maxFormBytes = 4 * maxTokenBytes // a token, escaped, and where to go
)

// sessions are the logins of this process. The cookie is a random name of one.
type sessions struct {
	now func() time.Time
	all *lru.Cache[hash, session] // by the hash of the name
}

type session struct {
	token string
	until time.Time
}

func newSessions(now func() time.Time) sessions {
	return sessions{now, kept[hash, session](keptSessions)}
}

// token returns that of a request's login.
func (s sessions) token(r *http.Request) (token string, ok bool) {
	cookie, err := r.Cookie(cookieName(r))
	if err != nil {
		return "", false
	}
	key := sha256.Sum256([]byte(cookie.Value))
	is, ok := s.all.Get(key)
	if !ok {
		return "", false
	}
	if !s.now().Before(is.until) {
		s.all.Remove(key)
		return "", false
	}
	return is.token, true
}

// named reports whether a request names a login, good or not.
func (s sessions) named(r *http.Request) bool {
	_, err := r.Cookie(cookieName(r))
	return err == nil
}

// Login checks the token in the form of a request and gives the browser a session.
func (g *Gate) Login(w http.ResponseWriter, r *http.Request) error {
	if err := g.crossing.Check(r); err != nil {
		return &Refusal{Status: http.StatusForbidden, Message: "the login was sent by a page of another site: open this page itself and log in there"}
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
	if err := r.ParseForm(); err != nil {
		return &Refusal{Status: http.StatusBadRequest, Message: "the form could not be read: " + err.Error()}
	}
	token := strings.TrimSpace(r.PostForm.Get("token")) // never one of the address
	if token == "" {
		return &Refusal{Status: http.StatusUnauthorized, Message: "a Nomad token is needed: its Secret ID"}
	}
	if _, err := g.known(r.Context(), token, sourceOf(r)); err != nil {
		return err
	}
	name := rand.Text()
	g.sessions.all.Add(sha256.Sum256([]byte(name)), session{token, g.o.Now().Add(LoginLasts)})
	http.SetCookie(w, cookie(r, name))
	return nil
}

// Logout ends the session of a request.
func (g *Gate) Logout(w http.ResponseWriter, r *http.Request) error {
	if err := g.crossing.Check(r); err != nil {
		return &Refusal{Status: http.StatusForbidden, Message: "the logout was sent by a page of another site"}
	}
	if is, err := r.Cookie(cookieName(r)); err == nil {
		g.sessions.all.Remove(sha256.Sum256([]byte(is.Value)))
	}
	end := cookie(r, "") //nolint:gosec // all it asks for is in cookie
	end.MaxAge = -1
	http.SetCookie(w, end)
	return nil
}

// cookie has no end of its own: it goes with the browser's session, and no script and
// no other site's page can use it.
func cookie(r *http.Request, value string) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure wherever there is TLS; without, a Secure cookie would not come back
		Name: cookieName(r), Value: value, Path: "/",
		HttpOnly: true, Secure: secure(r), SameSite: http.SameSiteStrictMode,
	}
}

// secure: the browser speaks TLS, to us or to what is in front of us.
func secure(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

// cookieName has the port in it, because cookies do not tell ports apart: the logins
// at two agents on one machine would replace each other. Under TLS the prefix makes
// browsers refuse such a cookie from plain pages and from other hosts of the domain.
func cookieName(r *http.Request) string {
	name := "nomad-placer-login"
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		if n, err := strconv.ParseUint(port, 10, 16); err == nil {
			name += "-" + strconv.FormatUint(n, 10)
		}
	}
	if secure(r) {
		return "__Host-" + name
	}
	return name
}
