package proxy

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxPageBytes of the UI's page are looked into; a longer one passes as it is.
// Nomad's is about four KiB.
const maxPageBytes = 1 << 20

// tags are what the UI's page gets; everything else comes from tab.js.
const tags = `<link rel="stylesheet" href="` + TabPath + `tab.css"><script type="module" src="` + TabPath + `tab.js"></script>`

// isPage reports whether a request may be for the UI's page. Its addresses have
// no form of their own: whatever is no asset is the page.
func isPage(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	name, ok := strings.CutPrefix(r.URL.Path, "/ui/")
	return ok && !strings.HasPrefix(name, "assets/") && !slices.Contains(uiFiles, name)
}

// uiFiles are beside the UI's page, and none.
var uiFiles = []string{"favicon.ico", "robots.txt", "crossdomain.xml"}

// page asks for the UI's page and adds the tab to it.
func (p *Proxy) page(w http.ResponseWriter, r *http.Request) {
	origin := &url.URL{Scheme: "http", Host: r.Host}
	if r.TLS != nil {
		origin.Scheme = "https"
	}
	r = r.WithContext(context.WithValue(r.Context(), afterKey{}, after(func(answer *http.Response) error {
		p.injectInto(answer, origin)
		return nil
	})))
	// What Nomad knows of the reader's copy is not what we would send.
	for _, h := range []string{"If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range", "Range"} {
		r.Header.Del(h)
	}
	if accepts(r.Header, "gzip") {
		r.Header.Set("Accept-Encoding", "gzip")
	} else {
		r.Header.Set("Accept-Encoding", "identity")
	}
	p.reverse.ServeHTTP(w, r)
}

// accepts reports whether a reader takes an encoding, quality values aside.
func accepts(header http.Header, encoding string) bool {
	for _, line := range header.Values("Accept-Encoding") {
		for item := range strings.SplitSeq(line, ",") {
			name, quality, _ := strings.Cut(item, ";")
			q := strings.TrimPrefix(strings.TrimSpace(quality), "q=")
			if v, err := strconv.ParseFloat(q, 64); err == nil && v == 0 {
				continue
			}
			if strings.EqualFold(strings.TrimSpace(name), encoding) {
				return true
			}
		}
	}
	return false
}

// injectInto adds the tab to an answer that is the UI's page. Whatever goes wrong
// leaves the answer as it came.
func (p *Proxy) injectInto(answer *http.Response, origin *url.URL) {
	kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil || kind != "text/html" {
		return
	}
	if why := refusal(answer.Header, origin); why != "" {
		p.tab.left(why, p.o.Log)
		return
	}
	if answer.Request.Method == http.MethodHead {
		// What a GET would have is not known without its body.
		forget(answer.Header)
		answer.Header.Del("Content-Length")
		answer.ContentLength = -1
		return
	}
	why, err := rewritePage(answer)
	switch {
	case err != nil:
		p.tab.left(err.Error(), p.o.Log)
	case why != "":
		p.tab.left(why, p.o.Log)
	default:
		p.tab.added()
	}
}

// forget what the server said of its own page.
func forget(header http.Header) {
	for _, h := range []string{"ETag", "Last-Modified", "Accept-Ranges", "Content-MD5", "Digest"} {
		header.Del(h)
	}
}

// rewritePage puts the tags before the end of the head. It says why it did not.
func rewritePage(answer *http.Response) (why string, err error) {
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxPageBytes+1))
	if err != nil {
		// The reader gets what we got, and the same error.
		answer.Body = joined{io.MultiReader(bytes.NewReader(raw), failing{err}), answer.Body}
		return "", fmt.Errorf("reading the page: %w", err)
	}
	if len(raw) > maxPageBytes {
		answer.Body = joined{io.MultiReader(bytes.NewReader(raw), answer.Body), answer.Body}
		return fmt.Sprintf("the page is longer than %d bytes", maxPageBytes), nil
	}
	_ = answer.Body.Close() // read to its end
	answer.Body = io.NopCloser(bytes.NewReader(raw))
	encoding := strings.ToLower(answer.Header.Get("Content-Encoding"))
	plain, err := decoded(raw, encoding)
	if err != nil {
		return "", err
	}
	page, ok := withTags(plain)
	if !ok {
		return "the page has no head to add the tab to", nil
	}
	data, err := encoded(page, encoding)
	if err != nil {
		return "", err
	}
	forget(answer.Header)
	replaceAnswer(answer, data)
	return "", nil
}

// withTags is the page with the tags; ok is false where there is no place for
// them.
func withTags(page []byte) (out []byte, ok bool) {
	at := bytes.Index(bytes.ToLower(page), []byte("</head>"))
	if at < 0 {
		return nil, false
	}
	out = make([]byte, 0, len(page)+len(tags))
	out = append(out, page[:at]...)
	out = append(out, tags...)
	return append(out, page[at:]...), true
}

func decoded(raw []byte, encoding string) ([]byte, error) {
	switch encoding {
	case "", "identity":
		return raw, nil
	case "gzip":
	default:
		return nil, fmt.Errorf("the page is encoded as %q", encoding)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("reading the page: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(z, maxPageBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the page: %w", err)
	}
	if len(out) > maxPageBytes {
		return nil, fmt.Errorf("the page is longer than %d bytes", maxPageBytes)
	}
	return out, nil
}

func encoded(page []byte, encoding string) ([]byte, error) {
	if encoding != "gzip" {
		return page, nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(page)
	if err = errors.Join(err, z.Close()); err != nil {
		return nil, fmt.Errorf("compressing the page: %w", err)
	}
	return b.Bytes(), nil
}

// failing is a body that ended in an error.
type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) { return 0, f.err }
