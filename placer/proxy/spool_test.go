package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The transport may read a body after the request was answered. By then its memory is
// another request's.
func TestNothingIsReadOfMemoryThatWasGivenBack(t *testing.T) {
	room := newRoom(stillClock{})
	spooled := func(body string) *spool {
		text := &spool{room: room, source: "192.0.2.1"}
		if passes, err := text.readFrom(httptest.NewRequest(http.MethodPut, "/v1/jobs", strings.NewReader(body))); passes != nil || err != nil {
			t.Fatal(passes, err)
		}
		return text
	}
	first := spooled(`{"Job":{"ID":"web"}}`)
	late := first.all()
	first.release()
	defer spooled(`{"Job":{"ID":"secret"}}`).release()
	if got, err := io.ReadAll(late); err == nil || len(got) > 0 {
		t.Errorf("read %q, %v", got, err)
	}
}
