package figures

import (
	"fmt"
	"slices"
)

// lotesTraceLoad is a share of what the machines can serve.
const lotesTraceLoad = 0.93

var lotesTracePolicies = []string{"lotes", "tetris", "greedy-fit", "nomad-binpack", "least-loaded", "lotes-all-pairings"}

const whyLoTESTrace = "The month of tasks with their sizes and run times is not at hand. From the trace are the tasks that ran when it began, which hold two fifths of the cores for nearly all of the month, and how many jobs come in each hour; classes and machines are those of the paper's tables. The load is not published. At 0.80 next to nobody waits under any policy; at 0.93 queues form in the busiest hours of each day and last through it, where the paper has empty ones most of the month. "

// Quantities of waiting.
var (
	waitMean      = metric("mean wait", "s", "wait_mean")
	waitFirst     = metric("mean wait, first day", "s", "wait_first_day")
	waitLater     = metric("mean wait after it", "s", "wait_later")
	waitLaterTail = metric("wait that 1 % exceed after it", "s", "wait_later_p99")
	waitTail      = metric("wait that 1 % exceed", "s", "wait_p99")
	waitedHour    = metric("waited more than an hour", "%", "waited_hour")
	queueMean     = metric("jobs waiting", "jobs", "queue_mean")
	queueGrowth   = metric("growth of the queue", "jobs/h", "queue_growth")
	unfinished    = metric("not ended", "%", "unfinished")
)

// lotesReading is a reading of how much of each resource a job of drawn classes needs.
type lotesReading struct {
	id, title, why string
	phi            []string  // scenarios of experiment A, by how much needs of classes differ
	differ         []float64 // by how much, thousandths
	omega          []string  // of experiment B: 0, 0.1, 0.2 and 0.3
}

const (
	phiLoad  = 0.97
	whyDrawn = "With 20 machines of a kind instead of 1,000 a queue has less to draw from, and our hours from an empty cluster are fewer than 100. Mean times are at least 0.02 of an hour, as the result would otherwise depend on one class. "
	whyOmega = "The paper splits arrivals by the stock of jobs in place; lotes by their flow, lotes-stock as printed. "
)

var lotesReadings = []lotesReading{
	{
		phi:   []string{"lotes-a-phi-000", "lotes-a-phi-003", "lotes-a-phi-006", "lotes-a-phi-009", "lotes-a-phi-012", "lotes-a-phi-015"},
		omega: []string{"lotes-b-omega-00", "lotes-b-omega-10", "lotes-b-omega-20", "lotes-b-omega-30"}, differ: []float64{0, 3, 6, 9, 12, 15},
		why: "The rate is a share of what bins of mean jobs serve. Needs that are drawn for each resource by itself, as the text says, leave room for one another: jobs pack closer than mean jobs do, and at this load hardly anybody waits. Where all jobs wait less than a second no order is judged; two other readings of the needs are below, and higher loads. ",
	},
	{
		id: "-one", title: ", one draw for both needs", phi: []string{"lotes-a-one-000", "lotes-a-one-006", "lotes-a-one-015"}, differ: []float64{0, 6, 15},
		omega: []string{"lotes-b-one-00", "lotes-b-one-10", "lotes-b-one-20", "lotes-b-one-30"},
		why:   "A reading of ours: a job that needs more memory than its class does needs as much more CPU, so that needs do not make room for one another, and the load binds. The text draws each by itself. ",
	},
	{
		id: "-mean", title: ", jobs that need what their class does", phi: []string{"lotes-a-mean-000", "lotes-a-mean-006", "lotes-a-mean-015"}, differ: []float64{0, 6, 15},
		omega: []string{"lotes-b-mean-00", "lotes-b-mean-10", "lotes-b-mean-20", "lotes-b-mean-30"},
		why:   "A trial that removes a cause: jobs need exactly what the bins of the program are made of. What LoTES loses against the tables before is lost to needs that differ within a class. ",
	},
}

// at is a policy in experiment A where needs of classes differ by so many thousandths.
func (r *lotesReading) at(differ float64, policy string) At {
	return of(policy).load(phiLoad).in(r.phi[slices.Index(r.differ, differ)])
}

// omegaAt is a policy in experiment B where rates differ by so many tenths.
func (r *lotesReading) omegaAt(tenths int, load float64, policy string) At {
	return of(policy).load(load).in(r.omega[tenths])
}

// lotesExperiments are those of the paper, in its order.
var lotesExperiments = []Experiment{
	{
		ID: "lotes-google", Paper: "lotes", Where: "§5.3.3, figures 7 and 8", Title: "Jobs like those of Google's trace: mean response by policy",
		Scenarios: []string{"lotes-google"}, Headline: of("lotes").load(lotesTraceLoad), Rows: loaded([]float64{lotesTraceLoad, 0.8}, lotesTracePolicies...),
		Quantities: []Quantity{
			waitLater.from(published{"lotes at 0.93": pictured, "tetris at 0.93": pictured, "greedy-fit at 0.93": pictured}),
			waitFirst.from(published{"lotes at 0.93": pictured, "tetris at 0.93": pictured, "greedy-fit at 0.93": pictured}), waitMean, unfinished,
		},
		Requires: []Requirement{
			multiple("Tetris waits ten times as long as LoTES on average, after the first day", waitLater, 10, of("tetris").load(lotesTraceLoad), of("lotes").load(lotesTraceLoad)),
			multiple("Greedy waits a hundred times as long as LoTES on average, after the first day", waitLater, 100, of("greedy-fit").load(lotesTraceLoad), of("lotes").load(lotesTraceLoad)),
			falling("Greedy waits longer than Tetris, Tetris longer than LoTES", waitLater, atLoad(lotesTraceLoad, all("greedy-fit", "tetris", "lotes"))...),
			falling("on the first day, with its backlog, Greedy waits least", waitFirst, atLoad(lotesTraceLoad, all("lotes", "greedy-fit"))...),
		},
		Why: whyLoTESTrace + "The response of the paper is the time from entry to start. Classes are learnt as jobs come, while their shares drift. The first day, on which the tasks of the start are placed, is shown by itself, as it is in the picture. ",
		Plots: []Plot{
			waits(atLoad(lotesTraceLoad, all("lotes", "tetris", "greedy-fit", "nomad-binpack"))...),
			usageOf(of("lotes").load(lotesTraceLoad)), usageOf(of("tetris").load(lotesTraceLoad)), usageOf(of("greedy-fit").load(lotesTraceLoad)),
		},
	},
	{
		ID: "lotes-google-tail", Paper: "lotes", Where: "§5.3.3, figure 9", Title: "Jobs like those of Google's trace: the tail of the waits",
		Scenarios: []string{"lotes-google"}, Headline: of("lotes").load(lotesTraceLoad), Rows: loaded([]float64{lotesTraceLoad, 0.8}, lotesTracePolicies...),
		Quantities: []Quantity{
			waitLaterTail.from(published{"lotes at 0.93": below(3600), "tetris at 0.93": about(25200), "greedy-fit at 0.93": above(61200)}),
			waitTail, waitedHour.from(published{"lotes at 0.93": below(1)}),
		},
		Requires: []Requirement{
			atMost("under LoTES less than 1 % of the jobs wait more than an hour", waitedHour, 1, of("lotes").load(lotesTraceLoad)),
			multiple("1 % of the jobs wait seven times as long under Tetris", waitLaterTail, 7, of("tetris").load(lotesTraceLoad), of("lotes").load(lotesTraceLoad)),
			multiple("and seventeen times as long under Greedy", waitLaterTail, 17, of("greedy-fit").load(lotesTraceLoad), of("lotes").load(lotesTraceLoad)),
		},
		Why:   whyLoTESTrace + "Tetris prefers jobs of little work, which lets large ones wait: its mean and its tail differ in kind. ",
		Plots: []Plot{waits(atLoad(lotesTraceLoad, all("lotes", "tetris", "greedy-fit"))...)},
	},
	{
		ID: "lotes-google-queues", Paper: "lotes", Where: "§5.3.3, figure 10", Title: "Jobs like those of Google's trace: queues over time",
		Scenarios: []string{"lotes-google"}, Headline: of("lotes").load(lotesTraceLoad), Rows: loaded([]float64{lotesTraceLoad, 0.8}, lotesTracePolicies...),
		Quantities: []Quantity{queueMean.from(published{"lotes at 0.93": pictured, "tetris at 0.93": pictured, "greedy-fit at 0.93": pictured}), queueGrowth},
		Requires: []Requirement{
			falling("Greedy has the longest queues, LoTES the shortest", queueMean, atLoad(lotesTraceLoad, all("greedy-fit", "tetris", "lotes"))...),
			cannot("LoTES has next to none most of the month", "the published series is a picture; ours is drawn in the report"),
		},
		Why: whyLoTESTrace,
		Plots: []Plot{
			usageOf(of("lotes").load(lotesTraceLoad)), usageOf(of("tetris").load(lotesTraceLoad)), usageOf(of("greedy-fit").load(lotesTraceLoad)),
		},
	},
	{
		ID: "lotes-cost", Paper: "lotes", Where: "§5.3.3", Title: "Cost of both programs, of the bins, and of rounding",
		Missing: "it is time of the host and no time of the simulated world; BenchmarkMake of placer/predict/lotes measures it, and the paper tests there check both optima, the number of bins and the loss by rounding",
	},
	{
		ID: "lotes-a-loads", Paper: "lotes", Where: "§5.4.2", Title: "Drawn classes: which policy's queue grows first as the load rises",
		Scenarios: []string{"lotes-a-loads"}, Headline: of("greedy-fit").load(0.97),
		Rows:       loaded([]float64{0.97, 1.03}, "greedy-fit", "tetris", "tetris-packs", "lotes", "lotes-all-pairings"),
		Quantities: []Quantity{queueGrowth.from(published{"greedy-fit at 0.97": above(0)}), waitMean, waitTail, queueMean},
		Requires: []Requirement{
			falling("the queue of Greedy grows most, that of LoTES least", queueGrowth, of("greedy-fit").load(1.03), of("tetris").load(1.03), of("lotes").load(1.03)).above(leastGrowth),
		},
		Why: whyDrawn + "Tetris as published prefers jobs of little work. That lets few wait, those that are large and long, at any load; tetris-packs is Tetris without it (epsilon 0), and what is left between it and LoTES is how they pack. Pairings of classes and machines that the first program does not use make no difference (lotes-all-pairings). ",
	},
	{
		ID: "lotes-causes", Paper: "lotes", Where: "§4, §5.4", Title: "What decides, jobs that need what their class does",
		Scenarios: []string{"lotes-causes", "lotes-causes-learnt", "lotes-causes-varied"}, Headline: of("lotes").load(1.03),
		Rows:       slices.Concat(lotesParts(1.03), lotesParts(0.97)),
		Quantities: []Quantity{waitMean, waitTail, queueMean, queueGrowth},
		Requires: []Requirement{
			behind("LoTES waits less than Tetris and Greedy", waitMean, 0, of("lotes").load(1.03), of("tetris").load(1.03), of("greedy-fit").load(1.03)),
			behind("a queue of each class waits less than one queue", waitMean, 0, of("lotes").load(1.03), of("lotes-unqueued").load(1.03)),
			behind("leaving room idle on purpose pays: who has waited for a minute and takes any room makes all wait longer", waitMean, 0, of("lotes").load(1.03), of("lotes-impatient").load(1.03)),
			compared("classes can be learnt: a tenth longer at most", func(v []float64) bool { return v[1] <= 1.1*v[0] }, uses(waitMean, of("lotes").load(1.03), of("lotes").load(1.03).in("lotes-causes-learnt"))...),
		},
		Why: fromTable("lotes-causes", waitMean, "Load decides first: at 97 %% of what the machines can serve jobs wait %s s under LoTES, at 103 %% %s s.", "lotes at 0.97", "lotes at 1.03") +
			fromTable("lotes-causes", waitMean, "What the plan gives is seen in its queues and mixes: with its routes but one queue for all classes jobs wait %s s, and where machines mix only what the first program does %s s.", "lotes-unqueued at 1.03", "lotes-support at 1.03") +
			fromTable("lotes-causes", waitTail, "The queues cost the tail: 1 %% wait longer than %s s, in one queue longer than %s s.", "lotes at 1.03", "lotes-unqueued at 1.03") +
			fromTable("lotes-causes", waitMean, "Room that is left idle for a class neither gains nor costs on average: %s s where who has waited for a minute takes any room,", "lotes-impatient at 1.03") +
			fromTable("lotes-causes", waitTail, "and the tail is then %s s.", "lotes-impatient at 1.03") +
			fromTable("lotes-causes", waitMean, "That classes and their times are known is worth more than each of these: where they are learnt from the jobs of a run of some hours jobs wait %s s, and %s s at the lower load.", "lotes at 1.03, lotes-causes-learnt", "lotes at 0.97, lotes-causes-learnt") +
			fromTable("lotes-causes", waitMean, "Against Tetris, which knows each job's time, LoTES is ahead below the limit (%s s against %s s) and behind above it (%s s against %s s), where short jobs first is worth more than a plan;", "lotes at 0.97", "tetris at 0.97", "lotes at 1.03", "tetris at 1.03") +
			fromTable("lotes-causes", waitMean, "with needs that vary within a class it is behind at both (%s s against %s s at the lower), though not by more than seeds differ.", "lotes at 0.97, lotes-causes-varied", "tetris at 0.97, lotes-causes-varied"),
		Plots: []Plot{byPart(waitMean, lotesParts(1.03)...)},
	},
}

// What is worth an order (chosen by us).
const (
	leastWait   = 1 // s
	leastGrowth = 1 // jobs/h
)

// phiExperiment is figure 11 in a reading.
func phiExperiment(r *lotesReading) Experiment {
	last := r.differ[len(r.differ)-1]
	line := func(policy string) sweepLine {
		l := sweepLine{name: policy}
		for _, d := range r.differ {
			l.points = append(l.points, sweepPoint{d, r.at(d, policy)})
		}
		return l
	}
	return Experiment{
		ID: "lotes-a-phi" + r.id, Paper: "lotes", Where: "§5.4.2, figure 11", Title: "Drawn classes: response by how much needs differ" + r.title,
		Scenarios: r.phi, Headline: r.at(last, "lotes"), Rows: atLoad(phiLoad, across(r.phi, "lotes", "tetris", "greedy-fit")),
		Quantities: []Quantity{waitMean.from(published{r.at(last, "lotes").String(): pictured, r.at(last, "tetris").String(): pictured}), waitTail, queueMean, queueGrowth},
		Requires: []Requirement{
			multiple("Greedy's queue grows without bound", queueGrowth, 10, r.at(0, "greedy-fit"), r.at(0, "lotes")).above(leastGrowth),
			falling("LoTES waits less than Tetris at 0.006", waitMean, r.at(6, "tetris"), r.at(6, "lotes")).above(leastWait),
			falling("LoTES waits less than Tetris at 0.015", waitMean, r.at(15, "tetris"), r.at(15, "lotes")).above(leastWait),
			falling("Tetris waits longer the more needs differ", waitMean, r.at(15, "tetris"), r.at(0, "tetris")).above(leastWait),
		},
		Why:   r.why + whyDrawn,
		Plots: []Plot{sweep("Mean response by how much needs differ", waitMean, "phi, thousandths", "", false, line("lotes"), line("tetris"), line("greedy-fit"))},
	}
}

// omegaExperiment is figure 12 or 13 in a reading.
func omegaExperiment(r *lotesReading, load float64, where string, requires ...Requirement) Experiment {
	rows := across(r.omega, "lotes", "tetris")
	if r.id == "" {
		rows = append(rows, of("lotes-stock").in(r.omega[3]))
	}
	line := func(policy string) sweepLine {
		l := sweepLine{name: policy}
		for i := range r.omega {
			l.points = append(l.points, sweepPoint{float64(i) / 10, r.omegaAt(i, load, policy)})
		}
		return l
	}
	return Experiment{
		ID: fmt.Sprintf("lotes-b-omega%s-load-%.0f", r.id, 100*load), Paper: "lotes", Where: where,
		Title:     fmt.Sprintf("Drawn classes whose rates differ between machines, load %.2f%s", load, r.title),
		Scenarios: r.omega, Headline: r.omegaAt(3, load, "lotes"), Rows: atLoad(load, rows),
		Quantities: []Quantity{waitMean.from(published{r.omegaAt(3, load, "lotes").String(): pictured, r.omegaAt(3, load, "tetris").String(): pictured}), waitTail, queueMean, queueGrowth},
		Requires:   requires,
		Why:        r.why + whyDrawn + whyOmega,
		Plots:      []Plot{sweep("Mean response by how much rates differ", waitMean, "omega", "", false, line("lotes"), line("tetris"))},
	}
}

// omegaExperiments are figures 12 and 13 in a reading.
func omegaExperiments(r *lotesReading) []Experiment {
	at := r.omegaAt
	return []Experiment{
		omegaExperiment(r, 0.9, "§5.4.3, figure 12",
			atMost("LoTES starts nearly everything at once: less than 10 s on average", waitMean, 10, at(0, 0.9, "lotes"), at(1, 0.9, "lotes"), at(2, 0.9, "lotes"), at(3, 0.9, "lotes")),
			falling("Tetris waits longer the more rates differ", waitMean, at(3, 0.9, "tetris"), at(1, 0.9, "tetris"), at(0, 0.9, "tetris")).above(leastWait)),
		omegaExperiment(r, 0.95, "§5.4.3, figure 13",
			falling("LoTES waits less than Tetris at 0.2", waitMean, at(2, 0.95, "tetris"), at(2, 0.95, "lotes")).above(leastWait),
			falling("LoTES waits longer the more rates differ", waitMean, at(3, 0.95, "lotes"), at(0, 0.95, "lotes")).above(leastWait),
			multiple("beyond 0.1 the queue of Tetris grows without bound", queueGrowth, 10, at(2, 0.95, "tetris"), at(0, 0.95, "tetris")).above(leastGrowth)),
	}
}

// drawnExperiments are those with drawn classes, in each reading.
func drawnExperiments() []Experiment {
	var out []Experiment
	for i := range lotesReadings {
		out = append(out, phiExperiment(&lotesReadings[i]))
		out = append(out, omegaExperiments(&lotesReadings[i])...)
	}
	return out
}

// lotesParts are LoTES, with parts taken away, and those that it is compared with.
func lotesParts(load float64) []At {
	return atLoad(load, slices.Concat(
		all("lotes", "lotes-support", "lotes-unqueued", "lotes-impatient"), across([]string{"lotes-causes-learnt"}, "lotes"), all("tetris", "tetris-packs", "greedy-fit"),
		across([]string{"lotes-causes-varied"}, "lotes", "tetris", "greedy-fit")))
}
