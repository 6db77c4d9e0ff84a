package capture

import "net/netip"

// talk is what connections have in common that are reported as one: the port that one
// end chose by chance is left out.
type talk struct {
	local, remote netip.AddrPort
	began         bool // this end began; then local has no port, else remote has none
}

// amounts are bytes of payload.
type amounts struct{ sent, received uint64 }

// tally adds up what the connections of one namespace moved since it was taken.
type tally struct {
	listening map[uint16]bool
	open      map[uint64]counted // by cookie: connections that have not ended
	talks     map[talk]amounts
	missed    int // talks that were too many to be kept apart
}

// counted is what was counted of a connection already.
type counted struct {
	amounts
	began  bool // this end began it
	absent int  // readings since it was listed last
}

// absentMost is for how many readings a connection may be in no list before its notice comes. The
// kernel sends notices a little later than it ends connections, and of one that was reset only
// when its process closes it; counted as a new one, all its bytes would count twice.
const absentMost = 12

// maxTalks bounds what one namespace keeps apart between two readings.
const maxTalks = 1 << 16

func newTally() *tally {
	return &tally{open: map[uint64]counted{}, talks: map[talk]amounts{}}
}

// listens replaces the ports on which somebody listens.
func (t *tally) listens(ports map[uint16]bool) { t.listening = ports }

// begin notes what was counted before the capture began.
func (t *tally) begin(c connection) {
	if c.sent == 0 && c.received == 0 {
		return
	}
	t.note(c, t.before(c))
}

// note keeps what a connection has moved until now.
func (t *tally) note(c connection, before counted) {
	t.open[c.cookie] = counted{amounts: amounts{c.sent, c.received}, began: before.began}
}

// before is what was counted of a connection. Who began it is decided once: a server that ends
// closes its port before its connections.
func (t *tally) before(c connection) counted {
	if before, known := t.open[c.cookie]; known {
		return before
	}
	return counted{began: !t.listening[c.local.Port()]}
}

// seen counts what a connection moved since it was seen last. One without counts has moved nothing
// yet, or is what the kernel keeps of an ended one for a while. Of that no notice comes, but that
// of the connection, which has the same cookie and all counts, may still be on its way.
func (t *tally) seen(c connection) {
	if c.sent == 0 && c.received == 0 {
		return
	}
	before := t.before(c)
	t.note(c, before)
	t.add(c, before)
}

// ended counts the rest of a connection.
func (t *tally) ended(c connection) {
	before := t.before(c)
	delete(t.open, c.cookie)
	t.add(c, before)
}

// keep forgets connections that are in no list for long, and of which no notice came: the
// bytes since they were last seen are unknown. It returns how many there are.
func (t *tally) keep(present map[uint64]bool) (lost int) {
	for cookie, c := range t.open {
		if present[cookie] {
			continue
		}
		if c.absent++; c.absent > absentMost {
			delete(t.open, cookie)
			lost++
			continue
		}
		t.open[cookie] = c
	}
	return lost
}

// take returns what was added up, and starts again.
func (t *tally) take() map[talk]amounts {
	out := t.talks
	t.talks = map[talk]amounts{}
	return out
}

func (t *tally) add(c connection, before counted) {
	if c.remote.Port() == 0 || c.remote.Addr().IsLoopback() || c.remote.Addr().IsUnspecified() {
		return // never connected, or it does not cross the network
	}
	moved := amounts{since(before.sent, c.sent), since(before.received, c.received)}
	if moved == (amounts{}) {
		return
	}
	key := talk{local: c.local, remote: c.remote, began: before.began}
	if key.began {
		key.local = netip.AddrPortFrom(c.local.Addr(), 0)
	} else {
		key.remote = netip.AddrPortFrom(c.remote.Addr(), 0)
	}
	sum, known := t.talks[key]
	if !known && len(t.talks) >= maxTalks {
		t.missed++
		return
	}
	t.talks[key] = amounts{sum.sent + moved.sent, sum.received + moved.received}
}

// since is what a counter counted after it was before. One that went back was started
// again, and counts all that it has.
func since(before, now uint64) uint64 {
	if now < before {
		return now
	}
	return now - before
}
