package proxy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

const (
	// maxBodyBytes of a request are looked into; a longer one passes through. Nomad takes
	// longer ones.
	maxBodyBytes = 16 << 20
	// maxDecodedCost is how much memory the values of a job may take, about; one that takes
	// more is held without being decided on before.
	maxDecodedCost = 4 << 20
)

// body is what a request says, in its own words.
type body struct {
	text *spool
	outline
}

// Why a body that should be looked into is not.
var (
	errLong   = errors.New("it is longer than 16 MiB")
	errNoRoom = errors.New("too many large requests came at once")
)

// readBody takes a body into memory. What cannot be taken is put back, for the request to
// go on as it is, with the reason in passes.
func (p *Proxy) readBody(w http.ResponseWriter, r *http.Request) (text *spool, passes, err error) {
	text = &spool{room: p.room, source: sourceOf(r)}
	if r.ContentLength > maxBodyBytes {
		return text, errLong, nil
	}
	// Where the connection knows no deadline nothing is waited for.
	deadlines := http.NewResponseController(w)
	_ = deadlines.SetReadDeadline(p.o.Clock.Now().Add(p.o.BodyWithin))
	passes, err = text.readFrom(r)
	_ = deadlines.SetReadDeadline(time.Time{})
	if err != nil {
		text.release()
		return nil, nil, err
	}
	r.Header.Del("Expect") // what it waits for was sent when we began to read
	if passes != nil {
		r.Body = joined{io.MultiReader(text.all(), r.Body), r.Body}
	}
	return text, passes, nil
}

// readFrom reads a body to its end, or to where it must pass.
func (s *spool) readFrom(r *http.Request) (passes, err error) {
	for {
		if s.size == len(s.pieces)*pieceBytes {
			if s.size > maxBodyBytes {
				return errLong, nil
			}
			p := s.room.piece(r.Context(), s.source)
			if p == nil {
				return errNoRoom, nil
			}
			s.pieces = append(s.pieces, p)
		}
		n, err := r.Body.Read(s.pieces[len(s.pieces)-1][s.size%pieceBytes:])
		s.size += n
		if err == io.EOF {
			return nil, r.Body.Close()
		}
		if err != nil {
			return nil, err
		}
	}
}

// sourceOf is the address that a request comes from.
func sourceOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// joined reads from one and closes the other.
type joined struct {
	io.Reader
	io.Closer
}

func (s *spool) all() *parts { return s.send(part{span: span{0, s.size}}) }

func (s *spool) send(list ...part) *parts {
	p := &parts{spool: s, list: list}
	s.sent = append(s.sent, p)
	return p
}

// replacing is the text with other bytes in place of a part.
func (s *spool) replacing(at span, other []byte) *parts {
	return s.send(part{span: span{0, at.from}}, part{other: other}, part{span: span{at.to, s.size}})
}

// setBody gives a request another body.
func setBody(r *http.Request, text *parts) {
	r.Body = text
	r.ContentLength = int64(text.len())
	r.Header.Set("Content-Length", strconv.Itoa(text.len()))
	r.TransferEncoding = nil
}

// held is the body with the job in a pool. All else is as it came, byte for byte.
func (b *body) held(pool string) *parts {
	name, err := json.Marshal(pool)
	if err != nil {
		panic(err) // a string
	}
	if b.pool.len() > 0 {
		return b.text.replacing(b.pool.span, name)
	}
	member := append([]byte(`"NodePool":`), name...)
	if !b.empty {
		member = append(member, ',')
	}
	return b.text.replacing(span{b.firstMember, b.firstMember}, member)
}

// with is the body with another job.
func (b *body) with(job map[string]any) (*parts, error) {
	data, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	return b.text.replacing(b.job, data), nil
}

// decoded is the job as values; an error where it has a key twice, of which Nomad makes
// a mixture.
func (b *body) decoded() (map[string]any, error) {
	d := json.NewDecoder(b.text.send(part{span: b.job}))
	d.UseNumber()
	v, err := decodeOnce(d)
	if err != nil {
		return nil, err
	}
	job, ok := v.(map[string]any)
	if !ok {
		return nil, errNoJSON
	}
	return job, nil
}

// decodeOnce reads a value none of whose objects has a key twice.
func decodeOnce(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		out := map[string]any{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			name, _ := key.(string) // the decoder takes nothing else
			if _, twice := out[name]; twice {
				return nil, errTwice
			}
			if out[name], err = decodeOnce(d); err != nil {
				return nil, err
			}
		}
		_, err := d.Token()
		return out, err
	case json.Delim('['):
		out := []any{}
		for d.More() {
			item, err := decodeOnce(d)
			if err != nil {
				return nil, err
			}
			out = append(out, item)
		}
		_, err := d.Token()
		return out, err
	}
	return token, nil
}

// jobOf is what a registration is about, as Nomad reads it: a namespace in the query
// counts before one in the body, and that before the job's own. With any other order a
// user could name a job that is not theirs, and have it released.
func (b *body) jobOf(query url.Values) cluster.JobID {
	return cluster.JobID{Namespace: cmp.Or(query.Get("namespace"), b.namespace.said, b.ownNamespace.said, "default"), ID: b.id.said}
}

// decode reads one JSON value without losing digits of large numbers: a job's
// durations are nanoseconds.
func decode(data []byte, out any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(out); err != nil {
		return err
	}
	if d.More() {
		return errors.New("more than one JSON value")
	}
	return nil
}

// maxAnswerBytes of an answer are changed; a longer one passes as it is.
const maxAnswerBytes = 16 << 20

// edit changes the JSON of an answer. One that is no JSON object passes as it is.
func edit(answer *http.Response, change func(fields map[string]any) map[string]any) error {
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswerBytes+1))
	if err != nil {
		return errors.Join(err, answer.Body.Close())
	}
	if len(raw) > maxAnswerBytes {
		answer.Body = joined{io.MultiReader(bytes.NewReader(raw), answer.Body), answer.Body}
		return nil
	}
	if err := answer.Body.Close(); err != nil {
		return err
	}
	var fields map[string]any
	if err := decode(raw, &fields); err != nil || fields == nil {
		replaceAnswer(answer, raw)
		return nil
	}
	data, err := json.Marshal(change(fields))
	if err != nil {
		return err
	}
	replaceAnswer(answer, data)
	return nil
}

func replaceAnswer(answer *http.Response, data []byte) {
	answer.Body = io.NopCloser(bytes.NewReader(data))
	answer.ContentLength = int64(len(data))
	answer.TransferEncoding = nil
	answer.Header.Del("Transfer-Encoding")
	answer.Header.Set("Content-Length", strconv.Itoa(len(data)))
}

func text(fields map[string]any, key string) string {
	s, _ := fields[key].(string)
	return s
}

func number(fields map[string]any, key string) uint64 {
	n, _ := fields[key].(json.Number)
	v, err := strconv.ParseUint(n.String(), 10, 64)
	if err != nil {
		return 0
	}
	return v
}
