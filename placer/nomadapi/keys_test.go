package nomadapi

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// Nomad reads the keys of a job in any case; what is the user's own stays as it is.
func TestCanonicalKeys(t *testing.T) {
	t.Parallel()
	const text = `{"id":"web","MADEUP":1,"taskgroups":[{"name":"g","meta":{"PERFORMANCE":"x","name":"y"},"VOLUMES":{"Data":{"source":"s"}},
		"tasks":[{"driver":"exec","config":{"command":"c","Command":"d"},"ENV":{"name":"v"}}]}]}`
	const want = `{"ID":"web","MADEUP":1,"TaskGroups":[{"Name":"g","Meta":{"PERFORMANCE":"x","name":"y"},"Volumes":{"Data":{"Source":"s"}},
		"Tasks":[{"Driver":"exec","Config":{"command":"c","Command":"d"},"Env":{"name":"v"}}]}]}`
	var job, expected map[string]any
	for text, out := range map[string]*map[string]any{text: &job, want: &expected} {
		if err := decodeNumbers(strings.NewReader(text), out); err != nil {
			t.Fatal(err)
		}
	}
	if err := CanonicalKeys(job); err != nil || !reflect.DeepEqual(job, expected) {
		t.Errorf("%v, %v", job, err)
	}
	for _, text := range []string{
		`{"ID":"web","Id":"db"}`, `{"TaskGroups":[{"Tasks":[{"Config":{},"config":{}}]}]}`, `{"tYPE":"batch","type":"service"}`,
	} {
		var job map[string]any
		if err := decodeNumbers(strings.NewReader(text), &job); err != nil {
			t.Fatal(err)
		}
		if err := CanonicalKeys(job); !errors.Is(err, ErrKeyTwice) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
