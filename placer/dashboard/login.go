package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/access"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// loginForm is the page on which a token is given.
type loginForm struct {
	Message string        // why it is shown, or why the last one was refused
	To      string        // where to go then, from the first page
	Lasts   time.Duration // of a login
}

func loginView(message, to string) pageView {
	return pageView{Template: "login", Title: "Log in", Refresh: -1, Data: loginForm{message, to, access.LoginLasts}}
}

func (s *server) loginPage(w http.ResponseWriter, r *http.Request) {
	view := loginView("", "")
	view.Root = rootOf(r)
	s.render(w, http.StatusOK, view)
}

func (s *server) login(w http.ResponseWriter, r *http.Request) {
	if err := s.options.Access.Login(w, r); err != nil {
		tellHow(w, err)
		view := loginView(wording.Capital(err.Error()), r.PostForm.Get("to"))
		view.Root = rootOf(r)
		s.render(w, statusOf(err), view)
		return
	}
	seeOther(w, r.PostForm.Get("to"))
}

func (s *server) logout(w http.ResponseWriter, r *http.Request) {
	if err := s.options.Access.Logout(w, r); err != nil {
		view := errorPage(r, statusOf(err), err)
		view.Root = rootOf(r)
		s.render(w, statusOf(err), view)
		return
	}
	seeOther(w, "login")
}

// seeOther leads to one of these pages, by its way from the first one. It is written
// here because http.Redirect makes it one from the root of the host, where these pages
// need not be.
func seeOther(w http.ResponseWriter, to string) {
	if u, err := url.Parse(to); err != nil || u.Scheme != "" || u.Host != "" || strings.HasPrefix(to, "/") || strings.Contains(to, `\`) {
		to = ""
	}
	w.Header().Set("Location", "./"+to)
	w.WriteHeader(http.StatusSeeOther)
}

// pathFrom is the way to a request's page from the first one.
func pathFrom(r *http.Request) string {
	to := strings.TrimPrefix(r.URL.EscapedPath(), "/")
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	return to
}

// tellHow tells programs what to do about a refusal.
func tellHow(w http.ResponseWriter, err error) {
	if refused, ok := errors.AsType[*access.Refusal](err); ok {
		refused.Header(w.Header())
	}
}
