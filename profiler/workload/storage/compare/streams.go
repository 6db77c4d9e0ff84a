package compare

import (
	"math"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/generate"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// kind is one line of the table of streams that are compared with the original.
type kind struct {
	name, about string
	// open starts the stream; nil, nil where what it needs is not there.
	open func(*subject) (storage.Reader, error)
}

// subject is what streams are made of.
type subject struct {
	model   *model.Model
	flat    *model.Model // of the same depth; nil: none
	noState *model.Model // of depth 0; nil: none
	replay  func() (storage.Reader, error)
	options generate.Options
	depth   float64 // I/Os that are outstanding on average, on the reference disk
}

// The names of streams that others are compared with.
const (
	walkName   = "walk"
	replayName = "replay"
)

// kinds are all streams: the model's two forms first, then the baselines.
func kinds() []kind {
	return []kind{
		{walkName, "a walk over the hierarchical diagram", func(s *subject) (storage.Reader, error) {
			return generate.NewWalk(s.model, s.options)
		}},
		{"jobs", "a generator for every transition: the form of a job file of fio", func(s *subject) (storage.Reader, error) {
			return generate.NewJobs(s.model, s.options)
		}},
		{replayName, "exact replay of the fitted part", func(s *subject) (storage.Reader, error) {
			if s.replay == nil {
				return nil, nil
			}
			return s.replay()
		}},
		{"flat", "a walk over the flat diagram of the same depth", func(s *subject) (storage.Reader, error) {
			return walkOf(s.flat, s.options)
		}},
		{"level-0", "no states: mix, sizes and gaps only", func(s *subject) (storage.Reader, error) {
			return walkOf(s.noState, s.options)
		}},
		{"one-rate", "the walk, with one rate for the whole time", func(s *subject) (storage.Reader, error) {
			o := s.options
			o.OneRate = true
			return generate.NewWalk(s.model, o)
		}},
		{"fixed-depth", "the walk, with as many outstanding I/Os as the original has on average, on the reference disk", func(s *subject) (storage.Reader, error) {
			w, err := generate.NewWalk(s.model, s.options)
			if err != nil {
				return nil, err
			}
			return newClosedLoop(w, s.model.Device.Bytes, int(math.Round(s.depth))), nil
		}},
		{"no-locality", "addresses anywhere, one rate: what other generators do", func(s *subject) (storage.Reader, error) {
			return generate.NewUniform(s.model, s.options)
		}},
	}
}

func walkOf(m *model.Model, o generate.Options) (storage.Reader, error) {
	if m == nil {
		return nil, nil
	}
	return generate.NewWalk(m, o)
}

// Stream is one stream against the original.
type Stream struct {
	Name     string   `json:"name"`
	About    string   `json:"about"`
	Measured Measured `json:"measured"`
	Rows     []Row    `json:"rows"`
}
