package provision

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// PriceList is what nodes cost, in one currency.
type PriceList struct {
	Owned         OwnedNode
	Types         Catalogue // that can be rented
	MinimumBilled time.Duration
}

// OwnedNode is a node of the base. It is paid in advance for whole terms.
type OwnedNode struct {
	Cores        int     `json:"cores"`
	MemoryMB     int     `json:"memory_mb"`
	PricePerHour float64 `json:"price_per_hour"` // what is paid for a term, by hour of it
	TermWeeks    int     `json:"term_weeks"`
	// Nodes is how many the hybrids own; nil: as many as the least load needs, one at least.
	Nodes *int `json:"nodes,omitempty"`
}

// Question is what the strategies are compared for.
type Question struct {
	From, To  time.Time
	Prices    PriceList
	Mapping   string  // of the hybrids
	Retention float64 // times its spin-up that an idle node is kept
	Outside   float64 // share of a provider's cores that other customers keep busy, 0..1
	Weeks     []float64
	Seed      uint64
}

// DefaultWeeks are the horizons of a comparison: from a week to two terms of a year (chosen by us; the
// text has 0 to 80 weeks, figure 8.13).
func DefaultWeeks() []float64 { return []float64{1, 4, 13, 26, 52, 104} }

// DefaultOutside is the load of other customers that is assumed (§8.2.1).
const DefaultOutside = 0.25

// longestWeeks bounds horizons.
const longestWeeks = 1000

// Errors of a comparison.
var (
	ErrQuestion = errors.New("provision: the question makes no sense")
	ErrNoRuns   = errors.New("provision: no run on record can be replayed")
	ErrTooMany  = errors.New("provision: too much is on record to be replayed")
)

// Check says what is wrong.
func (q Question) Check() error {
	owned := q.Prices.Owned
	switch {
	case !q.From.Before(q.To):
		return fmt.Errorf("%w: it begins %s and ends %s", ErrQuestion, q.From.Format(time.RFC3339), q.To.Format(time.RFC3339))
	case owned.Cores <= 0 || owned.MemoryMB <= 0 || owned.TermWeeks <= 0:
		return fmt.Errorf("%w: an owned node has %d cores and %d MB, and is paid for %d weeks", ErrQuestion, owned.Cores, owned.MemoryMB, owned.TermWeeks)
	case owned.Nodes != nil && *owned.Nodes < 1:
		return fmt.Errorf("%w: the hybrids own %d nodes", ErrQuestion, *owned.Nodes)
	case !(owned.PricePerHour >= 0) || math.IsInf(owned.PricePerHour, 0):
		return fmt.Errorf("%w: an owned node costs %g per hour", ErrQuestion, owned.PricePerHour)
	case !(q.Outside >= 0 && q.Outside <= 1) || !(q.Retention >= 0) || q.Prices.MinimumBilled < 0:
		return fmt.Errorf("%w: others keep %g of a provider's cores busy, idle nodes are kept %g times their spin-up and billed for %s at least", ErrQuestion, q.Outside, q.Retention, q.Prices.MinimumBilled)
	case len(q.Weeks) == 0:
		return fmt.Errorf("%w: it has no horizon, and without one no cost can be compared", ErrQuestion)
	}
	for _, w := range q.Weeks {
		if !(w > 0 && w <= longestWeeks) {
			return fmt.Errorf("%w: a horizon of %g weeks is not above 0 and at most %d", ErrQuestion, w, longestWeeks)
		}
	}
	if _, err := LookupMapping(q.Mapping); err != nil {
		return fmt.Errorf("%w: %w", ErrQuestion, err)
	}
	if err := q.Prices.Types.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrQuestion, err)
	}
	return nil
}

// Comparison is what each strategy would have reached and cost with the jobs of a stretch of time.
type Comparison struct {
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Hours   float64   `json:"hours"`
	Seed    uint64    `json:"seed"`
	Mapping string    `json:"mapping"`

	Runs        int              `json:"runs"`               // that were replayed
	Allocations int              `json:"allocations"`        // of them: each is replayed by itself
	Unknown     int              `json:"unknown"`            // runs of whose interference nothing is known
	Running     int              `json:"running"`            // runs that had not ended
	LeftOut     map[string]int   `json:"left_out,omitempty"` // runs and jobs, by reason
	Notes       []string         `json:"notes"`              // what is assumed
	Load        LoadReport       `json:"load"`
	Owned       OwnedNode        `json:"owned"`
	Strategies  []StrategyReport `json:"strategies"` // in the order of the text
}

// LoadReport is what jobs were given while they ran, in cores.
type LoadReport struct {
	MeanCores  float64 `json:"mean_cores"`
	LeastCores float64 `json:"least_cores"`
	MostCores  float64 `json:"most_cores"`
}

// StrategyReport is one strategy. Performance is relative to isolation, from submission on, in percent
// (Delimitrou 2015, §8.2).
type StrategyReport struct {
	Strategy    Strategy `json:"strategy"`
	OwnedNodes  int      `json:"owned_nodes"`
	RentedNodes int      `json:"rented_nodes"` // in all
	RentedMean  float64  `json:"rented_cores"` // billed, on average
	Performance float64  `json:"performance"`  // mean over allocations
	Worst       float64  `json:"worst"`        // what 95 % of them reach
	WaitSeconds float64  `json:"wait_seconds"` // mean over those that ran
	Unfinished  int      `json:"unfinished"`   // allocations that never ran, or were still there; they count as 0

	OwnedPerHour  float64       `json:"owned_per_hour"`
	RentedPerHour float64       `json:"rented_per_hour"`
	Horizons      []HorizonCost `json:"horizons"`
	// SRCheaperAfter is how many weeks it takes within the first term until SR costs less; 0: it does at
	// once, nil: it does not.
	SRCheaperAfter *float64 `json:"sr_cheaper_after_weeks,omitempty"`
}

// HorizonCost is what is paid in so many weeks, if every week is as the time that was replayed: whole
// terms of owned nodes, and the rented hours.
type HorizonCost struct {
	Weeks float64 `json:"weeks"`
	Cost  float64 `json:"cost"`
	// Saved is how much less than SR that is within these weeks, in percent; negative: more. nil: of SR
	// itself, and where SR costs nothing.
	Saved *float64 `json:"saved_percent,omitempty"`
}

// money is a load whose cores are what they cost per hour: by Prices of one for each, it is what is
// paid in the end.
func (s *StrategyReport) money() Load { return Load{Owned: s.OwnedPerHour, Rented: s.RentedPerHour} }

// PutCosts fills in what each strategy costs over horizons, against SR.
func (c *Comparison) PutCosts(weeks []float64) {
	prices := Prices{RentedPerCoreHour: 1, Ratio: 1, TermWeeks: c.Owned.TermWeeks}
	var reserved *StrategyReport
	for i := range c.Strategies {
		if c.Strategies[i].Strategy == StaticReserved {
			reserved = &c.Strategies[i]
		}
	}
	for i := range c.Strategies {
		s := &c.Strategies[i]
		s.Horizons, s.SRCheaperAfter = nil, nil
		for _, w := range weeks {
			h := HorizonCost{Weeks: w, Cost: prices.Absolute(s.money(), w)}
			if reserved != nil && s != reserved {
				if of := prices.Absolute(reserved.money(), w); of > 0 {
					saved := 100 * (1 - h.Cost/of)
					h.Saved = &saved
				}
			}
			s.Horizons = append(s.Horizons, h)
		}
		if reserved == nil || s == reserved {
			continue
		}
		if after, ok := prices.BreakEven(reserved.money(), s.money()); ok {
			after = max(0, after)
			s.SRCheaperAfter = &after
		}
	}
}

// CheaperText says from when on SR costs less than this strategy; it is empty of SR itself.
func (s *StrategyReport) CheaperText() string {
	switch {
	case s.Strategy == StaticReserved:
		return ""
	case s.SRCheaperAfter == nil:
		return fmt.Sprintf("SR does not become cheaper than %s within the first term.", s.Strategy)
	case *s.SRCheaperAfter <= 0:
		return fmt.Sprintf("SR is cheaper than %s from the first week on.", s.Strategy)
	default:
		return fmt.Sprintf("SR is cheaper than %s from week %.3g on, until its next term begins.", s.Strategy, *s.SRCheaperAfter)
	}
}

// LeftOutTexts say what is left out of a comparison, and why, in order.
func (c *Comparison) LeftOutTexts() []string { return leftOutTexts(c.LeftOut) }

// NothingToReplay is ErrNoRuns with what is left out, and why.
func NothingToReplay(leftOut map[string]int) error {
	if len(leftOut) == 0 {
		return fmt.Errorf("%w: there is none of that time", ErrNoRuns)
	}
	return fmt.Errorf("%w: %s", ErrNoRuns, strings.Join(leftOutTexts(leftOut), "; "))
}

func leftOutTexts(leftOut map[string]int) []string {
	var out []string
	for _, why := range slices.Sorted(maps.Keys(leftOut)) {
		out = append(out, fmt.Sprintf("%d left out: %s", leftOut[why], why))
	}
	return out
}

// Answering is how far an answer to a question is: a comparison takes seconds to minutes.
type Answering struct {
	Share      float64     `json:"share"` // that is done, 0..1
	What       string      `json:"what,omitempty"`
	Comparison *Comparison `json:"comparison,omitempty"` // nil: not yet
}
