package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"
)

type stillClock struct{}

func (stillClock) Now() time.Time                       { return time.Unix(1_800_000_000, 0) }
func (stillClock) After(time.Duration) <-chan time.Time { return nil }

// registration is what Nomad reads of a body, by the reader that Nomad uses: keys count in
// any case, and what follows the first value is not looked at.
type registration struct {
	Job *struct {
		ID, Namespace, Region, NodePool *string
		TaskGroups                      []*struct{ Meta map[string]string }
	}
	Namespace, Region, SecretID string
}

func readAsNomad(text []byte) (r registration, err error) {
	err = json.NewDecoder(bytes.NewReader(text)).Decode(&r)
	return r, err
}

// hasBlock reports whether Nomad sees a performance text.
func (r registration) hasBlock() bool {
	if r.Job == nil {
		return false
	}
	for _, g := range r.Job.TaskGroups {
		if g == nil {
			continue
		}
		if _, ok := g.Meta[metaKey]; ok {
			return true
		}
	}
	return false
}

// FuzzBody: of whatever is sent the proxy understands what Nomad understands, or lets its
// user know that it does not; and a held job is the one that was sent, byte for byte but
// for its pool.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"Job":{"ID":"web","Namespace":"team","TaskGroups":[{"Name":"g","Meta":{"performance":"x"}}],"Unknown":{"a":1.50}},"Submission":{"Source":"job"}}`,
		` {"job" : { "nodepool" : "default" , "Id":"web", "taskGROUPS":[{"meta":{"\u0070erformance":"x"}}] } } and more`,
		`{"Job":{"ID":"web","NodePool":null,"TaskGroups":[null,{"Meta":{"performance":"x"}}],"x":[1e400,"\ud800",{"a":1,"a":2}]}}`,
		`{"Job":{"TaſKGroups":[{"Meta":{"performance":""}}],"ID":"\u0061"},"Namespace":"a","region":"b"}`,
		`{"Job":{"ID":"web","TaskGroups":[{"Meta":{"performance":"x"},"meta":null}]},"job":null}`,
		`{"Job":{"TaskGroups":[{"Meta":{"performance":"x"}}]}}`,
		`{"Job":{"ID":7,"TaskGroups":{"Meta":{"performance":"x"}}}}`,
		`{"Job":{}}`, `{"Job":[]}`, `null`, `{`, "{\"Job\":{\"ID\":\"\xff\",\"TaskGroups\":[{\"Meta\":{\"performance\":\"\x00\"}}]}}",
	} {
		f.Add([]byte(seed))
	}
	room := newRoom(stillClock{})
	f.Fuzz(func(t *testing.T, sent []byte) {
		text := &spool{room: room, source: "192.0.2.1"}
		defer text.release()
		passes, err := text.readFrom(httptest.NewRequest(http.MethodPut, "/v1/jobs", bytes.NewReader(sent)))
		if passes != nil || err != nil {
			t.Fatal(passes, err)
		}
		nomads, refused := readAsNomad(sent)
		o, err := readOutline(text)
		switch {
		case err != nil && (errors.Is(err, errNoJSON) || errors.Is(err, errOtherKind)):
			if refused == nil && nomads.hasBlock() {
				t.Fatalf("it passes in silence (%v), and Nomad takes it", err)
			}
			return
		case err != nil || refused != nil:
			return // its user is told, or Nomad says what is wrong
		}
		checkOutline(t, o, nomads)
		if text.has(metaKey) || text.has(`\u`) || !nomads.hasBlock() {
			checkHeld(t, &body{text, o}, sent, nomads)
			return
		}
		t.Fatal("the first look at it says that it has no block")
	})
}

func checkOutline(t *testing.T, o outline, nomads registration) {
	t.Helper()
	if nomads.hasBlock() && !o.block {
		t.Fatal("Nomad sees a block, and the proxy none")
	}
	if o.namespace.said != nomads.Namespace || o.region.said != nomads.Region || o.secret.said != nomads.SecretID {
		t.Fatalf("%+v, and Nomad reads %+v", o, nomads)
	}
	if nomads.Job == nil {
		return
	}
	for what, pair := range map[string]struct {
		ours   string
		nomads *string
	}{
		"ID": {o.id.said, nomads.Job.ID}, "namespace": {o.ownNamespace.said, nomads.Job.Namespace},
		"region": {o.ownRegion.said, nomads.Job.Region}, "pool": {o.pool.said, nomads.Job.NodePool},
	} {
		if pair.nomads == nil && pair.ours != "" || pair.nomads != nil && pair.ours != *pair.nomads {
			t.Fatalf("%s is %q, and Nomad reads %v", what, pair.ours, pair.nomads)
		}
	}
}

// checkHeld wants the body of a held job to say what was sent, in the hold pool.
func checkHeld(t *testing.T, b *body, sent []byte, nomads registration) {
	t.Helper()
	if nomads.Job == nil || !b.block {
		return
	}
	held, err := io.ReadAll(b.held("placer"))
	if err != nil {
		t.Fatal(err)
	}
	from, to := b.pool.from, b.pool.to
	if b.pool.len() == 0 {
		from, to = b.firstMember, b.firstMember
	}
	if !bytes.HasPrefix(held, sent[:from]) || !bytes.HasSuffix(held, sent[to:]) {
		t.Fatalf("more than the pool was changed: %q", held)
	}
	now, err := readAsNomad(held)
	if err != nil {
		t.Fatalf("Nomad cannot read what it could: %q: %v", held, err)
	}
	if now.Job.NodePool == nil || *now.Job.NodePool != "placer" {
		t.Fatalf("it is not held: %q", held)
	}
	now.Job.NodePool, nomads.Job.NodePool = nil, nil
	if !reflect.DeepEqual(now, nomads) {
		t.Fatalf("Nomad reads another job of it: %q", held)
	}
	_, _ = b.decoded() // an error holds the job as it came
}
