package storage

// Split makes two threads of each thread of a trace, one of its reads and one of its writes:
// often they come at other times, as requests and what the page cache writes later. The thread of
// number n has its reads as 2n and its writes as 2n+1.
func Split(t Trace) Trace { return split{t} }

type split struct{ Trace }

// Next is the next I/O.
func (s split) Next(r *Record) error {
	err := s.Trace.Next(r)
	r.Thread = 2*r.Thread + uint32(r.Op)
	return err
}

// Threads has every name twice.
func (s split) Threads() []string {
	var out []string
	for _, name := range s.Trace.Threads() {
		out = append(out, name, name)
	}
	return out
}
