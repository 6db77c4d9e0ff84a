package profile

import (
	"errors"
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// ProductionFormat is the version of the JSON form of a Production.
const ProductionFormat = 1

// The grid on which a Likelihood is kept: the scores of 0, 5, … 100 points.
const (
	LikelihoodStepPoints = 5.0
	LikelihoodLevels     = 21
	// LikelihoodResponses are the shares of its performance that a workload may keep under
	// full pressure. A likelihood of how it tolerates a source is of both, by score.
	LikelihoodResponses = 5
)

// ExperimentsKept is how many experiments a Production names; what they said stays in its
// likelihoods.
const ExperimentsKept = 24

// Production is what the running allocations of a workload have said of it, beside its
// profile: likelihoods, so that it can be combined with whatever else is known.
type Production struct {
	Format       int         `json:"format"`
	Key          string      `json:"key"`      // of the profile it is beside
	Workload     string      `json:"workload"` // namespace/job/group
	Since        time.Time   `json:"since"`    // of the oldest experiment that counts
	Updated      time.Time   `json:"updated"`
	ProfileTaken time.Time   `json:"profile_taken,omitzero"` // of the profile that levels and situations are relative to
	SlowdownMax  float64     `json:"slowdown_max_percent"`   // the bound of the scores
	Tolerated    Likelihoods `json:"tolerated,omitempty"`
	Caused       Likelihoods `json:"caused,omitempty"`
	// Levels is by node configuration how far the performance in isolation is from the
	// profile's.
	Levels      map[string]Level `json:"levels,omitempty"`
	Experiments []Experiment     `json:"experiments,omitempty"` // the newest, oldest first
	Counted     int              `json:"counted"`               // experiments that changed a likelihood
	Distrust    *Distrust        `json:"distrust,omitempty"`    // set: the profile is measured again
	Suspicion   *Suspicion       `json:"suspicion,omitempty"`   // set: the newest experiments contradict what is known
	Situations  []SituationOf    `json:"situations,omitempty"`  // how often each was counted
}

// Likelihoods are by source.
type Likelihoods map[interference.Source]Likelihood

// Likelihood is the natural logarithm of how well each score of the grid explains what was
// observed, the best at 0; of tolerance, by score and then by share kept under full pressure. What somebody else's namespace has a part in is kept apart:
// its influence is bounded more closely.
type Likelihood struct {
	Own         []float64 `json:"own,omitempty"`
	Foreign     []float64 `json:"foreign,omitempty"`
	Experiments float64   `json:"experiments"` // how many independent ones it counts for
}

// Level is a likelihood of the natural logarithm of the performance in isolation by that of
// the profile: Gaussian, with a precision (1/variance) and a mean times it.
type Level struct {
	Precision float64 `json:"precision"`
	Shift     float64 `json:"shift"`
}

// Experiment is a run of windows of one allocation in one situation: node, size and
// neighbours stayed as they were.
type Experiment struct {
	From          time.Time `json:"from"`
	To            time.Time `json:"to"`
	Allocation    string    `json:"allocation"`
	Node          string    `json:"node"`
	Configuration string    `json:"configuration"`
	Began         string    `json:"began"`                // what made the situation: a sentence
	Neighbours    []string  `json:"neighbours,omitempty"` // of the same namespace; others are only counted
	Others        int       `json:"others,omitempty"`     // neighbours of other namespaces
	Windows       int       `json:"windows"`
	Independent   float64   `json:"independent"` // how many windows they count for
	// Ratio is the performance achieved, by that in isolation at this size and on this
	// configuration; AtLeast where there may have been no demand for more.
	Ratio         float64 `json:"ratio"`
	Low           float64 `json:"low"`
	High          float64 `json:"high"`
	AtLeast       bool    `json:"at_least,omitempty"`
	Predicted     float64 `json:"predicted"` // before this experiment
	PredictedLow  float64 `json:"predicted_low"`
	PredictedHigh float64 `json:"predicted_high"`
	Says          string  `json:"says"` // what was learnt, or why it says little
}

// Suspicion that what runs behaves differently from what its profile and production say.
type Suspicion struct {
	Odds        float64   `json:"odds"`                 // how much better that explains the newest experiments
	Since       time.Time `json:"since"`                // of the first that contradicts
	Experiments int       `json:"experiments"`          // that contradict
	Less        int       `json:"less"`                 // of which so many did less than is known
	CoRunners   []string  `json:"co_runners,omitempty"` // next to it in all of them, of the same namespace
}

// Distrust says that a profile is of another behaviour than what runs.
type Distrust struct {
	At        time.Time `json:"at"`
	Reason    string    `json:"reason"`
	CoRunners []string  `json:"co_runners,omitempty"` // that the reason may name
}

// DistrustOf is why a profile of that time is not trusted; nil where it is: none was noticed,
// or the profile was taken since.
func (p Production) DistrustOf(taken time.Time) *Distrust {
	if p.Distrust == nil || !taken.Before(p.Distrust.At) {
		return nil
	}
	return p.Distrust
}

// SituationOf counts the experiments of one situation, and says what was achieved in it.
type SituationOf struct {
	Situation   string    `json:"situation"`
	Experiments int       `json:"experiments"`
	At          time.Time `json:"at"`
	Ratio       float64   `json:"ratio,omitempty"`    // mean, the newest counting most
	Variance    float64   `json:"variance,omitempty"` // around it
	Compared    float64   `json:"compared,omitempty"` // experiments of which they are, the newest 4 at most
}

// Bounds on what is read of others.
const (
	maxLogLikelihood = 50.0
	maxSituations    = 64
	maxPrecision     = 1e6
	maxOdds          = 1e9
)

// Check refuses a document that no engine of ours has written.
func (p Production) Check() error {
	var c checker
	c.text("key", p.Key)
	c.text("workload", p.Workload)
	c.within("slowdown_max_percent", p.SlowdownMax, 0, 100)
	c.year("since", p.Since)
	c.year("updated", p.Updated)
	c.count("counted", p.Counted, maxCount)
	c.likelihoods("tolerated", p.Tolerated, LikelihoodLevels*LikelihoodResponses)
	c.likelihoods("caused", p.Caused, LikelihoodLevels)
	c.count("levels", len(p.Levels), maxEntries)
	for configuration, l := range p.Levels {
		c.text("configuration", configuration)
		c.within("levels.precision", l.Precision, 0, maxPrecision)
		c.within("levels.shift", l.Shift, -maxPrecision, maxPrecision)
	}
	if c.count("experiments", len(p.Experiments), ExperimentsKept) {
		for _, e := range p.Experiments {
			c.experiment(e)
		}
	}
	if s := p.Suspicion; s != nil {
		c.within("suspicion.odds", s.Odds, 0, maxOdds)
		c.year("suspicion.since", s.Since)
		c.count("suspicion.experiments", s.Experiments, maxCount)
		c.count("suspicion.less", s.Less, maxCount)
		c.names("suspicion.co_runners", s.CoRunners)
	}
	if c.count("situations", len(p.Situations), maxSituations) {
		for _, s := range p.Situations {
			c.text("situation", s.Situation)
			c.count("situation.experiments", s.Experiments, maxCount)
			c.within("situation.ratio", s.Ratio, 0, maxRatio)
			c.within("situation.variance", s.Variance, 0, maxRatio*maxRatio)
			c.within("situation.compared", s.Compared, 0, maxCount)
		}
	}
	if p.Distrust != nil {
		c.year("distrust.at", p.Distrust.At)
		c.text("reason of the distrust", p.Distrust.Reason)
		c.names("distrust.co_runners", p.Distrust.CoRunners)
	}
	return errors.Join(c.errs[:min(len(c.errs), 3)]...)
}

func (c *checker) likelihoods(what string, of Likelihoods, most int) {
	for source, l := range of {
		c.source(what, source)
		c.within(what+".experiments", l.Experiments, 0, maxCount)
		for _, levels := range [][]float64{l.Own, l.Foreign} {
			if len(levels) != 0 && len(levels) != most {
				c.wrong("%s: the likelihood of %s has %d levels, and must have %d", what, source, len(levels), most)
			}
			for _, v := range levels {
				c.within(what, v, -maxLogLikelihood, 0)
			}
		}
	}
}

func (c *checker) names(what string, names []string) {
	if c.count(what, len(names), maxEntries) {
		for _, n := range names {
			c.text(what, n)
		}
	}
}

func (c *checker) experiment(e Experiment) {
	for what, text := range map[string]string{
		"allocation": e.Allocation, "node name": e.Node, "configuration": e.Configuration, "cause": e.Began, "finding": e.Says,
	} {
		c.text(what, text)
	}
	c.names("experiment.neighbours", e.Neighbours)
	c.count("experiment.others", e.Others, maxCount)
	c.count("experiment.windows", e.Windows, maxCount)
	for what, v := range map[string]float64{
		"independent": e.Independent, "ratio": e.Ratio, "predicted": e.Predicted, "predicted_low": e.PredictedLow, "predicted_high": e.PredictedHigh,
	} {
		c.within("experiment."+what, v, 0, math.MaxInt32)
	}
	c.interval("experiment", e.Low, e.High, maxRatio)
}
