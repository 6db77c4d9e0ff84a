package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
)

// maxBodyBytes of a request are looked into; a longer one passes through. Nomad
// itself refuses jobspecs above one MiB, and jobs far below this.
const maxBodyBytes = 16 << 20

// body is the JSON of a request, with everything we do not know kept.
type body struct {
	raw    []byte
	fields map[string]any
}

// readBody reads a JSON body. ok is false where it is not one; the request can
// then be sent on as it was.
func readBody(r *http.Request) (b *body, ok bool, err error) {
	if r.Header.Get("Content-Encoding") != "" {
		return nil, false, nil
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBodyBytes+1))
	if err != nil {
		return nil, false, err
	}
	if len(raw) > maxBodyBytes {
		r.Body = joined{io.MultiReader(bytes.NewReader(raw), r.Body), r.Body}
		return nil, false, nil
	}
	if err := r.Body.Close(); err != nil {
		return nil, false, err
	}
	b = &body{raw: raw}
	if err := decode(raw, &b.fields); err != nil || b.fields == nil {
		setBody(r, raw)
		return nil, false, nil // Nomad says what is wrong with it
	}
	return b, true, nil
}

// joined reads from one and closes the other.
type joined struct {
	io.Reader
	io.Closer
}

func setBody(r *http.Request, data []byte) {
	r.Body = io.NopCloser(bytes.NewReader(data))
	r.ContentLength = int64(len(data))
	r.Header.Set("Content-Length", strconv.Itoa(len(data)))
	r.TransferEncoding = nil
}

// job is the job of a registration or plan; nil where there is none.
func (b *body) job() map[string]any {
	job, _ := b.fields["Job"].(map[string]any)
	return job
}

// with is the body with another job.
func (b *body) with(job map[string]any) ([]byte, error) {
	fields := make(map[string]any, len(b.fields))
	for k, v := range b.fields {
		fields[k] = v
	}
	fields["Job"] = job
	return json.Marshal(fields)
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

// edit changes the JSON of an answer. One that is no JSON object passes as it is.
func edit(answer *http.Response, change func(fields map[string]any) map[string]any) error {
	raw, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
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
