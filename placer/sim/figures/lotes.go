package figures

// lotesTraceLoad is a share of what the machines can serve.
const lotesTraceLoad = 0.93

const whyLoTESTrace = "The month of tasks with their sizes and run times is not at hand; a stand-in has the classes and the machines of the paper's tables at a stated load, a swing over the day, a burst and a backlog. At that load and on a fortieth of the machines a queue forms at the top of every day under any policy, which sets the means of all; the paper's cluster had room most of the time. LoTES serves in order within a class, Tetris what is short and small: it lets few wait, and those long. "

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

const (
	phiLoad  = 0.97
	whyDrawn = "With 20 machines of a kind instead of 1,000 a queue has less to draw from, and 6 hours from an empty cluster are shorter than 100. The rate is a share of what bins of mean jobs serve; jobs of different sizes pack closer than that, so a policy that looks at sizes has room to spare. Under LoTES a job waits only where no machine has room for it: filling every machine alike towards its mix leaves a little everywhere, and none that holds a large job. Mean times are at least 0.02 of an hour, as the result would otherwise depend on one class. "
)

var phiScenarios = []string{"lotes-a-phi-000", "lotes-a-phi-003", "lotes-a-phi-006", "lotes-a-phi-009", "lotes-a-phi-012", "lotes-a-phi-015"}

var omegaScenarios = []string{"lotes-b-omega-00", "lotes-b-omega-10", "lotes-b-omega-20", "lotes-b-omega-30"}

const whyOmega = whyDrawn + "The paper splits arrivals by the stock of jobs in place; lotes by their flow, lotes-stock as printed. "

// lotesExperiments are those of the paper, in its order.
var lotesExperiments = []Experiment{
	{
		ID: "lotes-google", Paper: "lotes", Where: "§5.3.3, figures 7 and 8", Title: "Jobs like those of Google's trace: mean response by policy",
		Scenarios: []string{"lotes-google"}, Headline: of("lotes").load(lotesTraceLoad),
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
		Why: whyLoTESTrace + "The response of the paper is the time from entry to start. Classes are learnt as jobs come, while their shares drift. The first day, with the backlog, is shown by itself, as it is in the picture. ",
		Plots: []Plot{
			waits(atLoad(lotesTraceLoad, all("lotes", "tetris", "greedy-fit", "nomad-binpack"))...),
			usageOf(of("lotes").load(lotesTraceLoad)), usageOf(of("tetris").load(lotesTraceLoad)), usageOf(of("greedy-fit").load(lotesTraceLoad)),
		},
	},
	{
		ID: "lotes-google-tail", Paper: "lotes", Where: "§5.3.3, figure 9", Title: "Jobs like those of Google's trace: the tail of the waits",
		Scenarios: []string{"lotes-google"}, Headline: of("lotes").load(lotesTraceLoad),
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
		Scenarios: []string{"lotes-google"}, Headline: of("lotes").load(lotesTraceLoad),
		Quantities: []Quantity{queueMean.from(published{"lotes at 0.93": pictured, "tetris at 0.93": pictured, "greedy-fit at 0.93": pictured}), queueGrowth},
		Requires: []Requirement{
			falling("Greedy has the longest queues, LoTES the shortest", queueMean, atLoad(lotesTraceLoad, all("greedy-fit", "tetris", "lotes"))...),
			cannot("LoTES has next to none most of the month", "the published series is a picture over a month; ours is a shorter run whose series is drawn in the report"),
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
		ID: "lotes-a-phi", Paper: "lotes", Where: "§5.4.2, figure 11", Title: "Drawn classes: response by how much needs differ",
		Scenarios: phiScenarios, Headline: phiAt(5, "lotes"), Rows: atLoad(phiLoad, across(phiScenarios, "lotes", "tetris", "greedy-fit")),
		Quantities: []Quantity{waitMean.from(published{phiAt(5, "lotes").String(): pictured, phiAt(5, "tetris").String(): pictured}), waitTail, queueMean, queueGrowth},
		Requires: []Requirement{
			multiple("Greedy's queue grows without bound", queueGrowth, 10, phiAt(0, "greedy-fit"), phiAt(0, "lotes")),
			falling("LoTES waits less than Tetris at 0.006", waitMean, phiAt(2, "tetris"), phiAt(2, "lotes")),
			falling("LoTES waits less than Tetris at 0.015", waitMean, phiAt(5, "tetris"), phiAt(5, "lotes")),
			falling("Tetris waits longer the more needs differ", waitMean, phiAt(5, "tetris"), phiAt(0, "tetris")),
		},
		Why:   whyDrawn,
		Plots: []Plot{sweep("Mean response by how much needs differ", waitMean, "phi, thousandths", "", false, phiLine("lotes"), phiLine("tetris"), phiLine("greedy-fit"))},
	},
	{
		ID: "lotes-b-omega-load-90", Paper: "lotes", Where: "§5.4.3, figure 12", Title: "Drawn classes whose rates differ between machines, load 0.90",
		Scenarios: omegaScenarios, Headline: omegaAt(3, 0.9, "lotes"), Rows: atLoad(0.9, append(across(omegaScenarios, "lotes", "tetris"), of("lotes-stock").in(omegaScenarios[3]))),
		Quantities: []Quantity{waitMean.from(published{omegaAt(3, 0.9, "lotes").String(): pictured, omegaAt(3, 0.9, "tetris").String(): pictured}), waitTail, queueMean, queueGrowth},
		Requires: []Requirement{
			atMost("LoTES starts nearly everything at once: less than 10 s on average", waitMean, 10, omegaAt(0, 0.9, "lotes"), omegaAt(1, 0.9, "lotes"), omegaAt(2, 0.9, "lotes"), omegaAt(3, 0.9, "lotes")),
			falling("Tetris waits longer the more rates differ", waitMean, omegaAt(3, 0.9, "tetris"), omegaAt(1, 0.9, "tetris"), omegaAt(0, 0.9, "tetris")),
		},
		Why:   whyOmega,
		Plots: []Plot{sweep("Mean response by how much rates differ", waitMean, "omega", "", false, omegaLine(0.9, "lotes"), omegaLine(0.9, "tetris"))},
	},
	{
		ID: "lotes-b-omega-load-95", Paper: "lotes", Where: "§5.4.3, figure 13", Title: "Drawn classes whose rates differ between machines, load 0.95",
		Scenarios: omegaScenarios, Headline: omegaAt(3, 0.95, "lotes"), Rows: atLoad(0.95, append(across(omegaScenarios, "lotes", "tetris"), of("lotes-stock").in(omegaScenarios[3]))),
		Quantities: []Quantity{waitMean.from(published{omegaAt(3, 0.95, "lotes").String(): pictured, omegaAt(3, 0.95, "tetris").String(): pictured}), waitTail, queueMean, queueGrowth},
		Requires: []Requirement{
			falling("LoTES waits less than Tetris at 0.2", waitMean, omegaAt(2, 0.95, "tetris"), omegaAt(2, 0.95, "lotes")),
			falling("LoTES waits longer the more rates differ", waitMean, omegaAt(3, 0.95, "lotes"), omegaAt(0, 0.95, "lotes")),
			multiple("beyond 0.1 the queue of Tetris grows without bound", queueGrowth, 10, omegaAt(2, 0.95, "tetris"), omegaAt(0, 0.95, "tetris")),
		},
		Why:   whyOmega,
		Plots: []Plot{sweep("Mean response by how much rates differ", waitMean, "omega", "", false, omegaLine(0.95, "lotes"), omegaLine(0.95, "tetris"))},
	},
}

// phiAt is a policy in the scenario of that number.
func phiAt(i int, policy string) At { return of(policy).load(phiLoad).in(phiScenarios[i]) }

func phiLine(policy string) sweepLine {
	l := sweepLine{name: policy}
	for i := range phiScenarios {
		l.points = append(l.points, sweepPoint{3 * float64(i), phiAt(i, policy)})
	}
	return l
}

// omegaAt is a policy in the scenario of that number.
func omegaAt(i int, load float64, policy string) At {
	return of(policy).load(load).in(omegaScenarios[i])
}

func omegaLine(load float64, policy string) sweepLine {
	l := sweepLine{name: policy}
	for i := range omegaScenarios {
		l.points = append(l.points, sweepPoint{float64(i) / 10, omegaAt(i, load, policy)})
	}
	return l
}
