package figures

import (
	"math"

	"github.com/nomad-placer/nomad-placer/placer/provision"
)

// The scenarios of table 8.2, from the steadiest load on.
const (
	hcloudStatic = "hcloud-static"
	hcloudLow    = "hcloud-low"
	hcloudHigh   = "hcloud-high"
)

var hcloudScenarios = []string{hcloudStatic, hcloudLow, hcloudHigh}

// The quantities of HCloud. Performance is relative to isolation, from submission on.
var (
	relative         = metric("performance relative to isolation", "%", "relative")
	relativeServices = metric("of services", "%", "relative_services")
	relativeBatch    = metric("of batch jobs", "%", "relative_batch")
	relativeWorst    = metric("what 95 % of the jobs reach", "%", "relative_p5")
	tailFactor       = metric("factor on the tail latency of services", "times", "tail_factor")
	loadCores        = metric("mean load L", "cores", "load_cores")
	rentedCores      = metric("rented on average", "cores", "rented_cores")
	baseUsed         = metric("cores of owned nodes busy", "%", "base_used")
	completion       = perSeed("until the last job ended", "min", func(a At) []seedMetric { return []seedMetric{{a, "makespan"}} }, func(v []float64) float64 { return v[0] / 60 })
)

// timesOf is a metric of a row over that of another policy, or the other way round.
func timesOf(other func(policy string) string, name, metric string, inverse bool) Quantity {
	return perSeed(name, "times", func(a At) []seedMetric {
		than := a
		than.Policy = other(a.Policy)
		return []seedMetric{{a, metric}, {than, metric}}
	}, func(v []float64) float64 {
		if inverse {
			return v[1] / v[0]
		}
		return v[0] / v[1]
	})
}

func always(policy string) func(string) string { return func(string) string { return policy } }

func byUsers(policy string) string { return policy + "-user" }

// What profile information gains, and what strategies lose against SR.
var (
	withProfiles         = timesOf(byUsers, "performance with profile information, of that without", "relative", false)
	withProfilesServices = timesOf(byUsers, "the same of services", "relative_services", false)
	withProfilesBatch    = timesOf(byUsers, "of batch jobs", "relative_batch", false)
	worseThanSR          = timesOf(always("SR"), "performance of SR, of that of the strategy", "relative", true)
	tailOfSR             = timesOf(always("SR"), "tail latency, of that under SR", "tail_factor", false)
	betterThanOdM        = timesOf(always("OdM"), "performance, of that of OdM", "relative", false)
	betterThanOdF        = timesOf(always("OdF"), "performance, of that of OdF", "relative", false)
	lossToSR             = perSeed("less performance than SR", "%", func(a At) []seedMetric {
		return []seedMetric{{a, "relative"}, {At{Scenario: a.Scenario, Policy: "SR", Load: a.Load}, "relative"}}
	}, func(v []float64) float64 { return 100 * (1 - v[0]/v[1]) })
)

// loads are what a row and others of its scenario have of nodes, as arguments of a cost.
func loads(policies ...string) func(a At) []seedMetric {
	return func(a At) []seedMetric {
		out := []seedMetric{{a, "owned_cores"}, {a, "rented_cores"}}
		for _, p := range policies {
			a.Policy = p
			out = append(out, seedMetric{a, "owned_cores"}, seedMetric{a, "rented_cores"})
		}
		return out
	}
}

func loadAt(v []float64, i int) provision.Load {
	return provision.Load{Owned: v[2*i], Rented: v[2*i+1]}
}

// hourOfSR is the per-hour view, weeksOfSR the absolute one with a year paid in advance (§3.1 of
// what the stated numbers say of one another is in TestArithmeticOfTheCostClaims of
// placer/provision).
var hourOfSR = perSeed("cost per hour, of SR", "%", loads("SR"), func(v []float64) float64 {
	p := provision.DefaultPrices()
	return 100 * p.PerHour(loadAt(v, 0)) / p.PerHour(loadAt(v, 1))
})

func weeksOfSR(name string, weeks float64) Quantity {
	return perSeed(name, "%", loads("SR"), func(v []float64) float64 {
		p := provision.DefaultPrices()
		return 100 * p.Absolute(loadAt(v, 0), weeks) / p.Absolute(loadAt(v, 1), weeks)
	})
}

// impliedHour is what the measured load alone says of the cost per hour: owned cores, and what
// exceeds them rented as it comes, without retention or nodes that are larger than their jobs.
var impliedHour = perSeed("cost per hour that L implies, of SR", "%", func(a At) []seedMetric {
	return append(loads("SR")(a), seedMetric{a, "load_cores"})
}, func(v []float64) float64 {
	p, row := provision.DefaultPrices(), loadAt(v, 0)
	row.Rented = math.Max(0, v[4]-row.Owned)
	return 100 * p.PerHour(row) / p.PerHour(loadAt(v, 1))
})

// neverWeeks stands for a break-even that does not come within the year that is paid in advance.
const neverWeeks = 53

// weeksUntil is when a policy costs less than the row's.
func weeksUntil(name, policy string) Quantity {
	return perSeed(name, "weeks", loads(policy), func(v []float64) float64 {
		if weeks, ok := provision.DefaultPrices().BreakEven(loadAt(v, 1), loadAt(v, 0)); ok && weeks > 0 {
			return weeks
		}
		return neverWeeks
	})
}

var (
	untilHM = weeksUntil("weeks until HM costs less (53: not within a year)", "HM")
	untilSR = weeksUntil("weeks until SR costs less (53: not within a year)", "SR")
	ratioSR = perSeed("ratio of prices at which SR costs as much per hour", "times", loads("SR"), func(v []float64) float64 { return provision.Crossover(loadAt(v, 1), loadAt(v, 0)) })
	// ratioImplied is that of the measured load alone.
	ratioImplied = perSeed("the same that L implies", "times", func(a At) []seedMetric { return append(loads("SR")(a), seedMetric{a, "load_cores"}) },
		func(v []float64) float64 {
			row := loadAt(v, 0)
			row.Rented = math.Max(0, v[4]-row.Owned)
			return provision.Crossover(loadAt(v, 1), row)
		})
)

// The models of other providers: all cores at the price of rented ones (Azure), or all of them with
// the discount on sustained use (Google), of which owned cores get the whole.
var (
	azureOfOdF = perSeed("cost where all is rented, of OdF", "%", loads("OdF"), func(v []float64) float64 {
		return 100 * (v[0] + v[1]) / (v[2] + v[3])
	})
	googleOfOdF = perSeed("cost with discounts on sustained use, of OdF", "%", func(a At) []seedMetric {
		other := At{Scenario: a.Scenario, Policy: "OdF", Load: a.Load}
		return []seedMetric{{a, "owned_cores"}, {a, "rented_cores_sustained"}, {other, "owned_cores"}, {other, "rented_cores_sustained"}}
	}, func(v []float64) float64 { return 100 * (sustainedAll*v[0] + v[1]) / (sustainedAll*v[2] + v[3]) })
)

// sustainedAll is the part of the full price that is paid for what is used all month: the mean of
// Google's steps of 2014, which the scenarios have.
const sustainedAll = 0.7

// each makes a requirement for every scenario.
func each(scenarios []string, of func(scenario string) Requirement) []Requirement {
	var out []Requirement
	for _, s := range scenarios {
		out = append(out, of(s))
	}
	return out
}

func in(scenario string, policies ...string) []At { return across([]string{scenario}, policies...) }

// everywhere is what was published of a policy for all scenarios together, in each.
func everywhere(values map[string]Number) published {
	out := published{}
	for policy, v := range values {
		for _, s := range hcloudScenarios {
			out[of(policy).in(s).String()] = v
		}
	}
	return out
}

// The values of sweeps.
var (
	spinUps    = []float64{0, 15, 30, 60, 120}
	outsides   = []float64{0, 0.25, 0.5, 0.75, 1}
	sensitives = []float64{0, 0.2, 0.4, 0.6, 0.8, 1}
	pressures  = []float64{0.01, 0.25, 0.5, 1}
)

// overValues draws a quantity of the five strategies by the values of a sweep.
func overValues(title string, q Quantity, values []float64, times float64, below, unit string) Plot {
	var lines []sweepLine
	for _, s := range provision.Strategies() {
		l := sweepLine{name: string(s)}
		for _, v := range values {
			l.points = append(l.points, sweepPoint{times * v, of(string(s)).load(v)})
		}
		lines = append(lines, l)
	}
	return sweep(title, q, below, unit, false, lines...)
}

// betterThan is the performance of a policy over that of another one.
func betterThan(policy, other string) Quantity {
	return timesOf(always(other), "performance of "+policy+", of that of "+other, "relative", false)
}

var (
	mappedBase   = metric("on owned nodes", "%", "relative_base")
	mappedRented = metric("on rented nodes", "%", "relative_rented")
)

// mappings are both performances and the cost of P8, and then of each other mapping.
func mappings() []use {
	var out []use
	for _, policy := range []string{"HM", "HM-P1", "HM-P2", "HM-P3", "HM-P4", "HM-P5", "HM-P6", "HM-P7"} {
		out = append(out, use{mappedBase, of(policy)}, use{mappedRented, of(policy)}, use{metric("cost per hour", "cores", "cost_per_hour"), of(policy)})
	}
	return out
}

// notDominated: no other is at least as good in all three as the first.
func notDominated(v []float64) bool {
	for i := 3; i < len(v); i += 3 {
		if v[i] >= v[0] && v[i+1] >= v[1] && v[i+2] <= v[2] {
			return false
		}
	}
	return true
}

// inRange: each value is in a range.
func inRange(low, high float64) func(v []float64) bool {
	return func(v []float64) bool { return least(v) >= low && most(v) <= high }
}

// meanAbove: the mean of the values is above a bound.
func meanAbove(bound float64) func(v []float64) bool {
	return func(v []float64) bool {
		sum := 0.0
		for _, x := range v {
			sum += x
		}
		return sum/float64(len(v)) > bound
	}
}
