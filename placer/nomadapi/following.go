package nomadapi

// following is the state of a cache that the event stream can keep up to date. mu
// guards the whole cache.
type following struct {
	mu     turn
	follow bool   // events keep the cache up to date; see events.go
	since  uint64 // index of the list, or before it: events up to it are in the list already
	asked  bool   // the cache was read since its list was read last
}

// start runs read and has the cache followed from there on.
func (f *following) start(read func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.begin(read)
}

// startIfAsked does so where the cache was read since the last time, and else ends
// the following: an agent that does not lead needs the jobs alone.
func (f *following) startIfAsked(read func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.asked {
		f.follow = false
		return nil
	}
	f.asked = false
	return f.begin(read)
}

func (f *following) begin(read func() error) error {
	if err := read(); err != nil {
		return err
	}
	f.follow = true
	return nil
}

func (f *following) isFollowed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.follow
}

func (f *following) unfollow() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.follow = false
}

// news reports whether an event of that index is to be folded in. The caller holds
// the lock.
func (f *following) news(index uint64) bool { return f.follow && index > f.since }
