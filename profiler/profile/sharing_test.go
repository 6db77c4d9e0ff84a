package profile_test

import (
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func TestScope(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sharing profile.Sharing
		want    map[string]string
	}{
		"by default": {profile.Sharing{}, map[string]string{"default": "default", "a": "a", "b": "b"}},
		"all":        {profile.Sharing{All: true}, map[string]string{"default": "default", "a": "default", "b": "default"}},
		"some":       {profile.Sharing{Between: []string{"b", "a"}}, map[string]string{"default": "default", "a": "a", "b": "a", "c": "c"}},
		"the first":  {profile.Sharing{Between: []string{"b", "default"}}, map[string]string{"default": "default", "a": "a", "b": "default"}},
	} {
		for namespace, want := range c.want {
			if got := c.sharing.Scope(namespace); got != want {
				t.Errorf("%s: the scope of %s is %s, want %s", name, namespace, got, want)
			}
		}
	}
}
