package figures

import (
	"slices"
	"strings"
	"text/template"
)

// digest is what a reader is to know of a paper. Its texts are templates: {{ours "experiment"
// "quantity" "row"}} is a number of the tables, so that none is written by hand.
type digest struct {
	lines   []digestLine
	picture string // experiment whose first picture is shown
	holds   string // what reproduces
	fails   string // what does not, and why
	use     string // what to use of it
}

// digestLine is a line of a paper's small table.
type digestLine struct {
	text                      string
	experiment, quantity, row string
	stock                     string // the row of stock Nomad, or of another baseline; may be empty
}

// digests are those of all papers, by name.
var digests = map[string]digest{
	"paragon": {
		picture: "paragon-local-medium",
		lines: []digestLine{
			{"jobs that keep 95 %, 40 servers, %", "paragon-local-medium", "QoS kept", "paragon", "nomad-binpack"},
			{"the same on 1,000 servers, high load", "paragon-ec2-high", "QoS kept", "paragon", "nomad-binpack"},
			{"on a best configuration", "paragon-local-medium-configurations", "on a best configuration", "paragon", "nomad-binpack"},
		},
		holds: `Two random measurements of a job, completed by collaborative filtering, are enough to keep {{ours "paragon-local-medium" "QoS kept" "paragon"}} % of the jobs within 5 % of their best on 40 servers, and {{ours "paragon-ec2-high" "QoS kept" "paragon"}} % on 1,000; stock Nomad keeps {{ours "paragon-local-medium" "QoS kept" "nomad-binpack"}} and {{ours "paragon-ec2-high" "QoS kept" "nomad-binpack"}} %.`,
		fails: `What scores of interference add. In the paper a scheduler that knows the configurations alone keeps 19 %; here it keeps {{ours "paragon-local-medium" "QoS kept" "ni"}} %, as many as Paragon, and the same policy with the truth does no better ({{ours "paragon-local-medium" "QoS kept" "paragon-oracle"}} %). In our world most of a job's loss is a wrong configuration; how much co-runners cost in the paper's is not published.`,
		use:   "`paragon` for jobs without targets on nodes that differ. `expected`, which has the same scores and counts what a place costs others, is ahead of it in [the league](league.md).",
	},
	"quasar": {
		picture: "quasar-large",
		lines: []digestLine{
			{"target reached, 1,200 workloads, %", "quasar-large", "target reached", "quasar", "nomad-binpack"},
			{"load served under a spike, %", "quasar-web-spike", "load served", "quasar", "nomad-binpack"},
			{"time in which services served theirs, %", "quasar-services", "time in which the load was served", "quasar", "nomad-binpack"},
		},
		holds: `Stating what a workload must reach, and letting the manager choose size and place, reaches {{ours "quasar-large" "target reached" "quasar"}} % of the targets; reservations on least-loaded servers reach {{ours "quasar-large" "target reached" "reservation-ll"}} %. Services serve {{ours "quasar-web-spike" "load served" "quasar"}} % of their load under a spike.`,
		fails: `Data-processing jobs end {{ours "quasar-multiple" "distance from the target" "quasar"}} % away from their target (published 5.3), and best-effort work next to them keeps {{ours "quasar-multiple" "performance of best-effort work" "quasar"}} % (92.2). How a job scales out is learnt worse from two measurements of real data than published: {{ours "quasar-classification" "mean error" "c3o by count, 2 and 8 shown, 2 shown: gauss"}} % wrong on Spark (5).`,
		use:   "`quasar` for jobs whose size is to be chosen (a `scale` block). `expected` sizes by the same models.",
	},
	"ibench": {
		picture: "ibench-1",
		lines: []digestLine{
			{"mean performance over least-loaded, %", "ibench-1", "mean performance, against least-loaded", "ibench", "nomad-spread"},
			{"target reached by Hadoop, %", "ibench-2", "target reached by Hadoop", "ibench", "nomad-spread"},
		},
		holds: `Placing by pressure that kernels measured gains {{ours "ibench-1" "mean performance, against least-loaded" "ibench"}} % of performance over least-loaded servers (published 15.7).`,
		fails: `More busy cores: every policy places all work here, so that cores are as busy ({{ours "ibench-1" "cores busy, against least-loaded" "ibench"}} % more, published 42).`,
		use:   "The kernels: they are the product's driver, `nomad-driver-ibench`. They measure for every other policy.",
	},
	"arq": {
		picture: "arq-over-ec2",
		lines: []digestLine{
			{"jobs that keep 95 % while they run, 1,000 servers oversubscribed, %", "arq-over-ec2", "QoS kept", "arq", "nomad-binpack"},
			{"the same from submission on", "arq-over-ec2", "QoS kept from submission", "arq", "nomad-binpack"},
		},
		holds: `Queues by what jobs tolerate keep {{ours "arq-over-ec2" "QoS kept" "arq"}} % of the jobs at 95 % while they run, on an oversubscribed cluster where Paragon keeps {{ours "arq-over-ec2" "QoS kept" "paragon"}} %.`,
		fails: `The time in the queue, which the paper does not count: from submission on {{ours "arq-over-ec2" "QoS kept from submission" "arq"}} % keep 95 %, under Paragon {{ours "arq-over-ec2" "QoS kept from submission" "paragon"}} %.`,
		use:   "Where how a job runs matters and when it starts does not. `expected` waits only as long as a better place is worth.",
	},
	"tarcil": {
		picture: "tarcil-heterogeneous",
		lines: []digestLine{
			{"near-optimal jobs of 7,200, %", "tarcil-heterogeneous", "near-optimal jobs", "tarcil", "nomad-binpack"},
			{"mean performance from submission, %", "tarcil-heterogeneous", "mean performance from submission", "tarcil", "nomad-binpack"},
		},
		holds: `A sample of servers, judged by known preferences, is enough: {{ours "tarcil-heterogeneous" "near-optimal jobs" "tarcil"}} % of mixed jobs are near-optimal, of a sample that is not judged {{ours "tarcil-heterogeneous" "near-optimal jobs" "sparrow"}} %, of a central scheduler that takes its time {{ours "tarcil-heterogeneous" "near-optimal jobs" "centralized"}} %.`,
		fails: `The level: with the truth it is {{ours "tarcil-heterogeneous" "near-optimal jobs" "tarcil-oracle"}} % (published 92), so that our servers press more on jobs than theirs. And jobs of 100 ms: with our model of decision times three agents are too slow for their rate, and sampling without judging responds sooner.`,
		use:   "`tarcil` in clusters too large to look at every node, for jobs of a minute and more.",
	},
	"hcloud": {
		picture: "hcloud-hybrids",
		lines: []digestLine{
			{"HM: less performance than SR, high variability, %", "hcloud-hybrids", "less performance than SR", "HM, hcloud-high", "nomad-binpack, hcloud-high"},
			{"HM: cost per hour, of SR, %", "hcloud-cost", "cost per hour, of SR", "HM, hcloud-high", "autoscaler, hcloud-high"},
		},
		holds: `A base that is owned and the rest rented loses {{ours "hcloud-hybrids" "less performance than SR" "HM, hcloud-high"}} % of performance against owning everything where load varies much, and costs {{ours "hcloud-cost" "cost per hour, of SR" "HM, hcloud-high"}} % of it per hour. An autoscaler that knows nothing of jobs loses {{ours "hcloud-hybrids" "less performance than SR" "autoscaler, hcloud-high"}} %.`,
		fails: `That rented slices are twice as bad: OdM has {{ours "hcloud-on-demand" "performance relative to isolation" "OdM, hcloud-high"}} % of the performance in isolation, SR {{ours "hcloud-on-demand" "performance relative to isolation" "SR, hcloud-high"}}. What other customers press is drawn as our programs are, and that is less than the paper met.`,
		use:   "`HM` where load varies, `SR` where it does not. `nomad-placer provision what-if` answers for the jobs of one's own cluster.",
	},
	"storage": {
		picture: "storage-caches",
		lines: []digestLine{
			{"64 ranges of addresses, apart from the trace, %", "storage-features", "64 ranges", "whole: walk", "whole: no-locality"},
			{"random I/Os, apart, %", "storage-features", "random", "whole: walk", "whole: no-locality"},
			{"cache of 1/4, misses apart, points", "storage-caches", "cache of 1/4", "whole: walk", "whole: no-locality"},
		},
		holds: `A model of some hundred KiB, without any data, has the features of a trace: where its addresses are within {{ours "storage-features" "64 ranges" "whole: walk"}} %; without locality they are {{ours "storage-features" "64 ranges" "whole: no-locality"}} % off.`,
		fails: `What caches miss is {{ours "storage-caches" "cache of 1/4" "whole: walk"}} points off for a quarter of the data: what is read again, and when, is not in a model of ranges. The other half of a trace is as far from the model as from the first half itself. [Six real workloads](../twin-workloads.md) are harder still.`,
		use:   "Twins to load a disk as a job does, and to learn what of it a job needs. Not to size a cache.",
	},
	"bloc": {
		picture: "bloc-energy",
		lines: []digestLine{
			{"energy saved, times", "bloc-orders", "energy saved", "losses × 1: bloc", "losses × 1: none"},
			{"the same where pairs lose a quarter as much", "bloc-orders", "energy saved", "losses × 0.25: bloc", "losses × 0.25: none"},
			{"bandwidth for moves, %", "bloc-moves", "bandwidth for moves", "losses × 0.25: bloc", ""},
		},
		holds: `Data sets packed by what they move per second keep their performance, and moving them takes {{ours "bloc-moves" "bandwidth for moves" "losses × 0.25: bloc"}} % of the bandwidth (published below 5).`,
		fails: `How much is saved: {{ours "bloc-orders" "energy saved" "losses × 1: bloc"}} times, published 3.1, unless pairs cost one another a quarter of what a queue makes them cost ({{ours "bloc-orders" "energy saved" "losses × 0.25: bloc"}} times). Powers, sizes and losses are not published.`,
		use:   "The ledger of promised bandwidth, which every policy counts. `consolidate plan` lists what could move, and moves nothing.",
	},
	"echo": {
		picture: "echo-errors",
		lines: []digestLine{
			{"average activity of the whole cluster, apart, %", "echo-average", "all servers", "C.2: the whole cluster", ""},
			{"half of the servers over time, apart, %", "echo-errors", "over time", "errors: 50 % of the servers", ""},
		},
		holds: `A chain per level of a hierarchy has the average activity of a cluster within {{ours "echo-average" "all servers" "C.2: the whole cluster"}} %, with {{ours "echo-transitions" "fewer" "transitions: 100 racks in 10 groups, racks only"}} % fewer transitions than a flat one.`,
		fails: `Single servers: half of them are within {{ours "echo-errors" "over time" "errors: 50 % of the servers"}} % (published 4). Those with bursts are missed, for a chain draws bursts at other times, and a window of some hours has few.`,
		use:   "The map of who exchanges how much, and load for a test cluster. As a forecast it is no better than the week before.",
	},
	"lsh": {
		picture: "lsh-default-high",
		lines: []digestLine{
			{"scores inside their interval, of 16", "lsh-2a", "correct, of 16", "lsh, 2 sources", "paragon, 2 sources"},
			{"jobs that keep 95 %, high load, %", "lsh-default-high", "QoS kept", "lsh", "nomad-binpack"},
			{"the same from submission on", "lsh-default-high", "QoS kept from submission", "lsh", "nomad-binpack"},
		},
		holds: `Hashing two measured sources finds {{ours "lsh-2a" "correct, of 16" "lsh, 2 sources"}} of 16 scores, and a scheduler by them keeps {{ours "lsh-default-high" "QoS kept" "lsh"}} % of the jobs while they run, Paragon {{ours "lsh-default-high" "QoS kept" "paragon"}} %.`,
		fails: `Paragon's predictor, on the same rows and measurements, is not 1.4 times worse: LSH has {{ours "lsh-2a" "LSH has so many times as many" "paragon, 2 sources"}} times as many. And jobs wait: with a minute of profiling for each, {{ours "lsh-default-charged" "QoS kept from submission" "lsh"}} % keep 95 % from submission on.`,
		use:   "The classifier `lsh` where two sources can be measured and many rows are known.",
	},
	"pprtte": {
		picture: "pprtte-errors",
		lines: []digestLine{
			{"jobs on time under interference, %", "pprtte-interference", "jobs on time", "pp-rtte", "nomad-binpack"},
			{"efficiency times jobs on time, %", "pprtte-interference", "efficiency times jobs on time", "pp-rtte", "nomad-binpack"},
		},
		holds: `Estimating the slowdown of a task and moving it in time has {{ours "pprtte-interference" "jobs on time" "pp-rtte"}} % of the jobs end before their deadline (published 96.5), where a scheduler that counts requests has {{ours "pprtte-interference" "jobs on time" "obfit"}} %.`,
		fails: `It needs a meter that errs on the safe side: where the slowdown is read 5 % too low, {{ours "pprtte-errors" "jobs on time" "pp-rtte, pprtte-under-5"}} % are on time. Without interference it does no more work per joule than its baseline ({{ours "pprtte-quiet" "work per joule over OBFIT" "pp-rtte"}} %).`,
		use:   "`pp-rtte` for batch work with deadlines whose progress can be read.",
	},
	"lotes": {
		picture: "lotes-a-phi-mean",
		lines: []digestLine{
			{"mean wait, month of Google's arrivals, s", "lotes-google", "mean wait after it", "lotes at 0.93", "nomad-binpack at 0.93"},
			{"mean wait, jobs that need what their class does, s", "lotes-a-phi-mean", "mean wait", "lotes at 0.97, lotes-a-mean-015", "tetris at 0.97, lotes-a-mean-015"},
			{"wait that 1 % exceed, month of Google's arrivals, s", "lotes-google-tail", "wait that 1 % exceed after it", "lotes at 0.93", "nomad-binpack at 0.93"},
		},
		holds: `The order of the means: over a month of Google's arrivals jobs wait {{ours "lotes-google" "mean wait after it" "lotes at 0.93"}} s under LoTES, {{ours "lotes-google" "mean wait after it" "tetris at 0.93"}} under Tetris and {{ours "lotes-google" "mean wait after it" "greedy-fit at 0.93"}} under Greedy. Where jobs need exactly what their class does, LoTES waits {{ours "lotes-a-phi-mean" "mean wait" "lotes at 0.97, lotes-a-mean-015"}} s and Tetris {{ours "lotes-a-phi-mean" "mean wait" "tetris at 0.97, lotes-a-mean-015"}}.`,
		fails: `How much: Tetris does not wait ten times as long, and its tail is shorter ({{ours "lotes-google-tail" "wait that 1 % exceed after it" "tetris at 0.93"}} s, LoTES {{ours "lotes-google-tail" "wait that 1 % exceed after it" "lotes at 0.93"}}), for it takes small and short jobs first. Needs that vary within a class, as printed, pack closer than the plan's bins, so that at the paper's loads nobody waits at all.`,
		use:   "`lotes` for queues of batch jobs of a few known classes; `tetris` where how long jobs take is known.",
	},
	"tracon": {
		picture: "tracon-causes",
		lines: []digestLine{
			{"speedup over FIFO, medium, %", "tracon-static-medium", "speedup over FIFO", "mibs-rt", "mibs-rt-oracle"},
			{"the same where the losses of both count, %", "tracon-static-medium", "speedup over FIFO", "mibs-both", "mibs-both-oracle"},
			{"what the best pairing of all gains, medium, %", "tracon-static-medium", "speedup over FIFO", "mibs-best-oracle", "mibs-best"},
			{"error of a prediction of the run time, %", "tracon-3", "mean error", "runtime of nlm, held-out backgrounds", ""},
		},
		holds: `The error of the model, where a background is described by what it was set to: {{ours "tracon-3" "mean error" "runtime of nlm, the generator's settings in place of requests, held-out backgrounds"}} % (published about 10); and that a model learnt anew follows a disk that becomes another. Pairing is worth what was published: the best of all gains {{ours "tracon-static-medium" "speedup over FIFO" "mibs-best-oracle"}} % on medium work, and the paper's rule with the truth {{ours "tracon-static-medium" "speedup over FIFO" "mibs-both-oracle"}} %, if the losses of both tasks of a pair count.`,
		fails: `The rule as printed: it asks how a task does next to another, and not what it does to that, and so gains {{ours "tracon-static-medium" "speedup over FIFO" "mibs-rt-oracle"}} % with the truth. And the model next to real co-runners, which have no settings: requests a second do not say how busy they keep the disk ({{ours "tracon-3" "mean error" "runtime of nlm, real co-runners"}} % wrong), and with both losses counted {{ours "tracon-static-medium" "speedup over FIFO" "mibs-both"}} % is left of the gain.`,
		use:   "`mibs` with `counts = \"both\"`, where pairs of one's own programs have been measured.",
	},
}

// digested writes what is to be known of a paper: its picture, its small table, and three texts.
func (p *page) digested(r *Report, paper paperOutcomes) {
	d, ok := digests[paper.Name]
	if !ok {
		return
	}
	p.line("## %s\n", paper.Title)
	p.line("%s. [Tables](%s.md).\n", paper.Source, paper.Name)
	if o := find(paper.Outcomes, d.picture); o != nil && len(o.Pictures()) > 0 {
		p.line("![%s](%s)\n", escaped(o.Pictures()[0].Title), pictureFile(paper.Name))
	}
	p.row([]string{"", "published", "ours", "baseline", "its value"})
	p.row([]string{"---", "---:", "---:", "---", "---:"})
	for _, l := range d.lines {
		c, _ := r.cell(l.experiment, l.quantity, l.row)
		cells := []string{escaped(l.text), escaped(c.PublishedText()), c.OursText(), "–", "–"}
		if l.stock != "" {
			cells[3], cells[4] = escaped(l.stock), r.ours(l.experiment, l.quantity, l.stock)
		}
		p.row(cells)
	}
	p.line("")
	for _, t := range []struct{ name, text string }{{"What reproduces", d.holds}, {"What does not, and why", d.fails}, {"What to use", d.use}} {
		p.line("- **%s.** %s", t.name, r.told(t.text))
	}
	p.line("")
}

// pictureFile is where the picture of a paper or an experiment is, seen from its page.
func pictureFile(name string) string { return "images/" + name + ".svg" }

func find(outcomes []Outcome, id string) *Outcome {
	if i := slices.IndexFunc(outcomes, func(o Outcome) bool { return o.ID == id }); i >= 0 {
		return &outcomes[i]
	}
	return nil
}

// ours looks a number up, as it is printed in the tables.
func (r *Report) ours(experiment, quantity, row string) string {
	c, ok := r.cell(experiment, quantity, row)
	if !ok || c.Ours == nil {
		return "unknown"
	}
	return c.OursText()
}

func (r *Report) cell(experiment, quantity, row string) (Cell, bool) {
	o := find(r.Outcomes, experiment)
	if o == nil {
		return Cell{}, false
	}
	k := slices.IndexFunc(o.Quantities, func(q Column) bool { return q.Name == quantity })
	n := slices.IndexFunc(o.Rows, func(r Row) bool { return r.Name == row })
	if k < 0 || n < 0 {
		return Cell{}, false
	}
	return o.Rows[n].Cells[k], true
}

// told is a text of a digest with its numbers.
func (r *Report) told(text string) string {
	t := template.Must(template.New("digest").Funcs(template.FuncMap{"ours": r.ours}).Parse(text))
	var out strings.Builder
	if err := t.Execute(&out, nil); err != nil {
		panic(err) // ours fails never, and into memory is always written
	}
	return out.String()
}
