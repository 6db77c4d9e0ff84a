package figures

var lotesTrace = Experiment{
	ID: "lotes-8", Paper: "lotes", Where: "§5.3.3, figures 7 and 8", Title: "Jobs like those of Google's trace: mean response by policy",
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
	Why: whyLoTESTrace + "The response of the paper is the time from entry to start. Classes are learnt as jobs come, while their shares drift. The first day, with the backlog, stands apart, as it does in the picture. ",
	Plots: []Plot{
		waits(atLoad(lotesTraceLoad, all("lotes", "tetris", "greedy-fit", "nomad-binpack"))...),
		usageOf(of("lotes").load(lotesTraceLoad)), usageOf(of("tetris").load(lotesTraceLoad)), usageOf(of("greedy-fit").load(lotesTraceLoad)),
	},
}

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
