package trace

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"time"
)

// source gives jobs in the order of a file, with Submit on the trace's own
// clock. A source that is not sorted is put in order by a stream.
type source interface {
	// next fills a zeroed job; io.EOF after the last.
	next(*Job) error
	close()
}

// skips counts rows that were left out, by reason.
type skips map[string]int

// Reasons for leaving out a row. A format may have more.
const (
	skipDuplicate   = "the same id again"
	skipNegative    = "it ends before it starts"
	skipNoTasks     = "it has no tasks"
	skipUnfinished  = "its duration is not known"
	skipMalformed   = "the row cannot be read"
	skipBeforeStart = "submitted before the origin"
)

// order is how a stream sorts its source.
type order uint8

const (
	sorted   order = iota // all of it is held and sorted
	inFileAs              // the source is in order already
)

// stream is the Reader of every format: source → sample → order → stretch →
// limit and pace.
type stream struct {
	source  source
	options Options
	order   order
	skips   skips
	seen    map[uint64]struct{} // hashes of ids; nil where the format cannot repeat them

	held     held // when order is sorted
	read     bool
	first    time.Duration // earliest submission before sampling
	haveAny  bool
	origin   time.Duration
	sequence int64
	done     bool
}

// newStream wants complete options. clock is the origin where they name none;
// nil is the first submission.
func newStream(s source, counted skips, o Options, how order, clock *time.Duration, unique bool) *stream {
	if o.Origin == nil {
		o.Origin = clock
	}
	st := &stream{source: s, options: o, order: how, skips: counted}
	if !unique {
		st.seen = map[uint64]struct{}{}
	}
	return st
}

// Origin is where Job.Submit counts from, on the trace's clock.
func (s *stream) Origin() time.Duration { return s.origin + s.options.From }

// Skips counts the rows left out so far.
func (s *stream) Skips() map[string]int { return maps.Clone(s.skips) }

// Close ends reading.
func (s *stream) Close() error {
	s.done, s.held = true, held{}
	s.source.close()
	return nil
}

// Next returns the next job.
func (s *stream) Next() (Job, error) {
	var job Job
	for !s.done {
		if err := s.ordered(&job); err != nil {
			s.done = true
			return Job{}, err
		}
		at := job.Submit - s.origin
		if at < 0 {
			s.skips[skipBeforeStart]++
			continue
		}
		if at < s.options.From {
			continue
		}
		if (s.options.To > 0 && at >= s.options.To) || (s.options.Limit > 0 && s.sequence >= s.options.Limit) {
			break
		}
		s.pace(&job, at-s.options.From)
		return job, nil
	}
	s.done = true
	return Job{}, io.EOF
}

// pace puts a job on the reader's own clock.
func (s *stream) pace(job *Job, at time.Duration) {
	job.Sequence = s.sequence
	s.sequence++
	job.Submit = scale(at, s.options.SubmitScale)
	if job.Duration >= 0 {
		job.Duration = scale(job.Duration, s.options.DurationScale)
	}
	job.AtLeast = scale(job.AtLeast, s.options.DurationScale)
}

// scale multiplies a span, and stops at the longest there is.
func scale(d time.Duration, by float64) time.Duration {
	if by == 1 {
		return d
	}
	if v := float64(d) * by; v < math.MaxInt64 {
		return time.Duration(v)
	}
	return math.MaxInt64
}

// ordered gives the next job in order of submission.
func (s *stream) ordered(job *Job) error {
	if s.order == inFileAs {
		if err := s.wanted(job); err != nil {
			return err
		}
		s.settleOrigin()
		return nil
	}
	if !s.read {
		if err := s.readAll(); err != nil {
			return err
		}
	}
	if !s.held.take(job) {
		return io.EOF
	}
	return nil
}

// readAll holds and sorts the whole source; jobs of one instant stay in the
// order of the file.
func (s *stream) readAll() error {
	s.read = true
	for {
		var job Job
		err := s.wanted(&job)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if s.held.len() == s.options.MaxSorted {
			return fmt.Errorf("%w: more than %d jobs, which this format has to hold to sort them; choose a sample, or raise the bound",
				ErrOptions, s.options.MaxSorted)
		}
		s.held.add(job)
	}
	s.held.sort()
	s.settleOrigin()
	return nil
}

func (s *stream) settleOrigin() {
	if s.options.Origin != nil {
		s.origin = *s.options.Origin
	} else {
		s.origin = s.first
	}
}

// wanted gives the next job of the source that is new and in the sample.
func (s *stream) wanted(job *Job) error {
	for {
		*job = Job{}
		if err := s.source.next(job); err != nil {
			return err
		}
		if s.seen != nil && s.again(job.ID) {
			s.skips[skipDuplicate]++
			continue
		}
		if !s.haveAny || job.Submit < s.first {
			s.first, s.haveAny = job.Submit, true
		}
		if job.Duration < 0 && s.options.SkipUnfinished {
			s.skips[skipUnfinished]++
			continue
		}
		if s.options.Sample < 1 && !inSample(sampleName(job), s.options) {
			continue
		}
		return nil
	}
}

// again tells whether an id was seen before, and remembers it.
func (s *stream) again(id string) bool {
	h := hash(id, 0)
	_, was := s.seen[h]
	s.seen[h] = struct{}{}
	return was
}

func sampleName(job *Job) string {
	if job.Group != "" {
		return job.Group
	}
	return job.ID
}

// inSample decides by a hash, so that a name is in a larger sample whenever it
// is in a smaller one.
func inSample[T string | []byte](name T, o Options) bool {
	return float64(hash(name, o.SampleSeed)>>11)/(1<<53) < o.Sample
}

// hash is FNV-1a with the finaliser of SplitMix64, which FNV needs for its upper
// bits to depend on the last bytes.
func hash[T string | []byte](text T, seed uint64) uint64 {
	h := uint64(14695981039346656037) ^ seed*0x9e3779b97f4a7c15
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
