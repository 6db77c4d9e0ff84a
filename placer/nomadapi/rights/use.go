package rights

import (
	"net/http"
	"sync"
)

// Book notes which rights were used. The zero value is ready.
type Book struct {
	// First, where set, is called once for each right, when it is first used.
	First func(Right)
	// Unlisted, where set, is called for each request that is not in the list.
	Unlisted func(*http.Request)

	mu   sync.Mutex
	used map[string]bool
}

// Note notes rights as used.
func (b *Book) Note(rights ...Right) {
	if b.First == nil {
		return
	}
	for _, r := range rights {
		if b.fresh(r.Name()) {
			b.First(r)
		}
	}
}

// NoteCall notes what a request needed that was not refused.
func (b *Book) NoteCall(request *http.Request) {
	if b.First == nil && b.Unlisted == nil {
		return
	}
	needed, known := NeededFor(request)
	if !known && b.Unlisted != nil {
		b.Unlisted(request)
	}
	b.Note(needed...)
}

func (b *Book) fresh(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used == nil {
		b.used = map[string]bool{}
	}
	was := b.used[name]
	b.used[name] = true
	return !was
}

// calls finds the pattern of a request.
var calls = sync.OnceValue(func() *http.ServeMux {
	mux, known := http.NewServeMux(), map[string]bool{}
	for _, r := range table {
		for _, pattern := range r.Calls {
			if !known[pattern] {
				mux.Handle(pattern, http.NotFoundHandler())
			}
			known[pattern] = true
		}
	}
	return mux
})

// NeededFor are the rights that an agent needs for a request whatever its body says; known
// is false for a call that is not in the list. Rights to volumes depend on the job: see
// Mount. Commands in tasks do not go through the client that asks here.
func NeededFor(request *http.Request) (needed []Right, known bool) {
	_, pattern := calls().Handler(request)
	if pattern == "" {
		return nil, false
	}
	for _, r := range Of(Leader, NodeMetadata, CreateHoldPool) {
		for _, c := range r.Calls {
			if c == pattern && !r.ToVolumes() {
				needed = append(needed, r)
			}
		}
	}
	return needed, true
}

// ToVolumes reports whether the right is needed for a registration only if the job has a
// volume.
func (r Right) ToVolumes() bool {
	return r.Scope == HostVolumes || r.Scope == Plugins || r.Capability == "csi-mount-volume"
}

// Mount are the rights that registering a job with a volume of that type needs more.
func Mount(volumeType string) []Right {
	var out []Right
	for _, r := range Of(Leader) {
		if r.ToVolumes() && (volumeType == "host") == (r.Scope == HostVolumes) {
			out = append(out, r)
		}
	}
	return out
}

// Exec are the rights of a command in a task.
func Exec() []Right {
	var out []Right
	for _, r := range Of(Leader, ExecProbes) {
		if r.With == ExecProbes {
			out = append(out, r)
		}
	}
	return out
}
