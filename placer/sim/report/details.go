package report

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// Details lists metrics that tables of papers have and the table of a scenario
// would be too long with. Where jobs are of several classes or priorities, a
// line also has performance, qos, hmean and in_bound by class, and late by
// priority: "qos:ST", "late:50".
func Details() []Metric {
	out := []Metric{
		{"median", "%", "performance that half of the jobs fall short of", func(r *run) float64 { return 100 * quantile(r.performances(), 0.5) }},
		{"median_with_wait", "%", "the same from submission on", func(r *run) float64 { return 100 * quantile(r.withWaits(), 0.5) }},
		{"worst", "%", "performance of the worst job", func(r *run) float64 { return 100 * quantile(r.performances(), 0) }},
		{"worst_with_wait", "%", "the same from submission on", func(r *run) float64 { return 100 * quantile(r.withWaits(), 0) }},
		{"run_mean", "s", "mean time from started to ended; until the end of the run for what never ended", func(r *run) float64 { return mean(times(r, startedAt)) }},
		{"stay_mean", "s", "mean time from submitted to ended, likewise", func(r *run) float64 { return mean(times(r, arrivedAt)) }},
		{"stay_p95", "s", "time from submitted to ended that 5 % of the jobs exceed, likewise", func(r *run) float64 { return quantile(times(r, arrivedAt), 0.95) }},
		{"wanted", "%", "mean performance of the jobs with a target, of all where none has one, at most 100 of each", wanted(performance)},
		{"wanted_with_wait", "%", "the same from submission on", wanted(withWait)},
		{"wanted_qos", "%", "of those jobs, the ones that kept 95 % while they ran", wantedQoS},
		{"target_deviation", "%", "mean distance of the performance of jobs with a target from it", targetDeviation},
		{"profiling_share", "%", "mean share of a job's time before it was ready", share(func(r *sim.Record) time.Duration { return r.Ready - r.Arrived })},
		{"deciding_share", "%", "mean share of a job's time in decisions", share(func(r *sim.Record) time.Duration { return r.Deciding })},
		{"waiting_share", "%", "mean share of a job's time from ready to started", share(func(r *sim.Record) time.Duration { return r.Wait() })},
		{"overhead_share", "%", "mean share of a job's time before it started", share(func(r *sim.Record) time.Duration { return r.Started - r.Arrived })},
		{"overhead_under_5", "%", "jobs that started within 5 % of their run time", overheadUnder5},
		{"waiting_max", "%", "longest wait from ready to started, of the job's run time", waitingMax},
		{"decided_150ms", "%", "jobs whose decisions took at most 150 ms", func(r *run) float64 { return 100 * shareBelow(r.decidings(), 150) }},
		{"core_deviation", "%", "mean distance of the allocated from the ideally required cores, while there are so many", coreDeviation},
		{"used_middle", "%", "cores busy, mean over the middle half of the submissions", usedMiddle},
		{"used_until_90", "%", "cores busy, mean until 90 % of the jobs have ended", usedUntil90},
		{"used_alone", "%", "cores that would at most be busy with one job per node, mean until the last submission", usedAlone},
		{"unrelaxed", "%", "placements that broke no bound", func(r *run) float64 { return 100 - percent(r.Counters.Relaxed, r.Counters.Placements) }},
		{"relaxed_one", "%", "placements that broke a bound in one source", func(r *run) float64 {
			return percent(r.Counters.Relaxed-r.Counters.RelaxedSeveral, r.Counters.Placements)
		}},
		{"relaxed_several", "%", "placements that broke bounds in several sources", func(r *run) float64 { return percent(r.Counters.RelaxedSeveral, r.Counters.Placements) }},
		{"run_total", "s", "sum of the times from started to ended; until the end of the run for what never ended", func(r *run) float64 { return sum(times(r, startedAt)) }},
		{"life_total", "s", "sum of the times that jobs would take if whoever they shared their node with stayed for their whole life; for jobs that share it with at most one other", lifeTotal},
		{"iops_total", "1/s", "sum over the jobs that ended of the mean requests to the disk per second while they ran", iopsTotal},
		{"ended_count", "", "jobs that ended", func(r *run) float64 { return float64(len(doneRecords(r))) }},
		{"work_done", "s", "sum of the ideal times of the jobs that ended", workDone},
		{"wait_p99", "s", "wait from ready to started that 1 % of the jobs exceed", func(r *run) float64 { return quantile(r.waits(), 0.99) }},
		{"wait_max", "s", "longest wait from ready to started", func(r *run) float64 { return quantile(r.waits(), 1) }},
		{"timed_out", "%", "decisions that took the best seen when their time was over", func(r *run) float64 { return percent(r.Counters.TimedOut, r.Counters.Decisions) }},
	}
	out = append(out, deadlineDetails()...)
	out = append(out, provisionDetails()...)
	for _, most := range []int{1, 10, 20} {
		kept := 1 - float64(most)/100
		out = append(out,
			Metric{fmt.Sprintf("platform_lost_%d", most), "%", fmt.Sprintf("jobs whose configurations cost them at most %d %%", most),
				func(r *run) float64 { return shareOf(r, ended(platform), kept) }},
			Metric{fmt.Sprintf("interference_lost_%d", most), "%", fmt.Sprintf("jobs that lost at most %d %% to co-runners", most),
				func(r *run) float64 { return shareOf(r, undisturbed, kept) }})
	}
	for _, percentile := range []int{5, 10, 25, 50, 75, 90, 95, 100} {
		out = append(out, Metric{fmt.Sprintf("late_%d", percentile), "%", fmt.Sprintf("mean excess of the time from ready to ended over the ideal one, the %d %% shortest jobs", percentile),
			func(r *run) float64 { return late(r.shortestFirst(), percentile) }})
	}
	return out
}

// wantedOf are the jobs with a target, or all where none has one.
func wantedOf(r *run) []*sim.Record {
	var targeted, all []*sim.Record
	for i := range r.Records {
		rec := &r.Records[i]
		all = append(all, rec)
		if rec.Targeted {
			targeted = append(targeted, rec)
		}
	}
	if len(targeted) > 0 {
		return targeted
	}
	return all
}

// wanted is the mean of a performance over them, in percent.
func wanted(of func(*sim.Record) float64) func(*run) float64 {
	return func(r *run) float64 {
		var values []float64
		for _, rec := range wantedOf(r) {
			values = append(values, 100*min(1, of(rec)))
		}
		return mean(values)
	}
}

func wantedQoS(r *run) float64 {
	records, kept := wantedOf(r), 0
	for _, rec := range records {
		if performance(rec) >= sim.QoS {
			kept++
		}
	}
	return percent(kept, len(records))
}

// ended is 0 for what was killed or had not ended.
func ended(of func(*sim.Record) float64) func(*sim.Record) float64 {
	return func(r *sim.Record) float64 {
		if r.Outcome != sim.Done {
			return 0
		}
		return of(r)
	}
}

func startedAt(r *sim.Record) sim.Instant { return r.Started }
func arrivedAt(r *sim.Record) sim.Instant { return r.Arrived }

// times are sorted seconds from an instant of a job to its end. What never ended
// has lasted until the end of the run: too short, but not left out.
func times(r *run, from func(*sim.Record) sim.Instant) []float64 {
	out := make([]float64, 0, len(r.Records))
	for i := range r.Records {
		rec := &r.Records[i]
		begin, end := from(rec), rec.Ended
		if begin < 0 {
			begin = rec.Arrived
		}
		if rec.Outcome != sim.Done {
			end = max(begin, r.End)
		}
		out = append(out, (end - begin).Seconds())
	}
	slices.Sort(out)
	return out
}

func targetDeviation(r *run) float64 {
	sum, n := 0.0, 0
	for i := range r.Records {
		if rec := &r.Records[i]; rec.Targeted {
			sum, n = sum+math.Abs(1-rec.Performance()), n+1
		}
	}
	return 100 * sum / float64(n) // NaN where no job has a target
}

// share of the time from submission to end, the mean over what ended.
func share(of func(*sim.Record) time.Duration) func(*run) float64 {
	return func(r *run) float64 {
		sum, n := 0.0, 0
		for i := range r.Records {
			if rec := &r.Records[i]; rec.Outcome == sim.Done && rec.Ended > rec.Arrived {
				sum, n = sum+float64(of(rec))/float64(rec.Ended-rec.Arrived), n+1
			}
		}
		return 100 * sum / float64(n)
	}
}

func overheadUnder5(r *run) float64 {
	n := 0
	for i := range r.Records {
		rec := &r.Records[i]
		if rec.Outcome == sim.Done && float64(rec.Started-rec.Arrived) <= 0.05*float64(rec.Ended-rec.Started) {
			n++
		}
	}
	return percent(n, len(r.Records))
}

func waitingMax(r *run) float64 {
	most := 0.0
	for i := range r.Records {
		if rec := &r.Records[i]; rec.Outcome == sim.Done && rec.Ended > rec.Started {
			most = max(most, float64(rec.Wait())/float64(rec.Ended-rec.Started))
		}
	}
	return 100 * most
}

// shareBelow is the share of sorted values up to a limit; NaN of none.
func shareBelow(v []float64, limit float64) float64 {
	n, _ := slices.BinarySearchFunc(v, limit, func(x, limit float64) int {
		if x <= limit {
			return -1
		}
		return 1
	})
	return float64(n) / float64(len(v))
}

// coreDeviation compares with what is ideally required: the cores of the jobs
// that would run if each began when it was submitted and took its ideal time
// (Delimitrou 2015, §3.5.1). Moments that require more cores than there are do
// not count.
func coreDeviation(r *run) float64 {
	sum, n := 0.0, 0
	last := lastArrival(r)
	first := 0 // those before it have ended
	for i := range r.Samples {
		s := &r.Samples[i]
		if s.At > last {
			break
		}
		for first < len(r.Records) && idealEnd(&r.Records[first]) <= s.At {
			first++
		}
		if cores := required(r.Records[first:], s.At); cores > 0 && cores <= r.Cores {
			sum, n = sum+math.Abs(s.Allocated-cores)/cores, n+1
		}
	}
	return 100 * sum / float64(n)
}

// required are the cores of the jobs that would run; they are in the order of their submission.
func required(jobs []sim.Record, at sim.Instant) float64 {
	sum := 0.0
	for i := range jobs {
		if jobs[i].Arrived > at {
			break
		}
		if at < idealEnd(&jobs[i]) {
			sum += float64(jobs[i].Cores)
		}
	}
	return sum
}

func idealEnd(r *sim.Record) sim.Instant { return r.Arrived + r.Ideal }

func lastArrival(r *run) sim.Instant {
	last := sim.Instant(0)
	for i := range r.Records {
		last = max(last, r.Records[i].Arrived)
	}
	return last
}

func usedMiddle(r *run) float64 {
	sum, n := 0.0, 0
	last := lastArrival(r)
	for i := range r.Samples {
		if s := &r.Samples[i]; s.At >= last/4 && s.At <= last-last/4 {
			sum, n = sum+s.Used, n+1
		}
	}
	return 100 * sum / float64(n) / r.Cores
}

// usedUntil90 is for what is submitted at once and drains: the last submission is
// soon, and the last job says little of the others.
func usedUntil90(r *run) float64 {
	var ends []sim.Instant
	for i := range r.Records {
		end := r.Records[i].Ended
		if end < 0 {
			end = r.End
		}
		ends = append(ends, end)
	}
	if len(ends) == 0 {
		return math.NaN()
	}
	slices.Sort(ends)
	until := ends[(len(ends)-1)*9/10]
	sum, n := 0.0, 0
	for i := range r.Samples {
		if s := &r.Samples[i]; s.At <= until {
			sum, n = sum+s.Used, n+1
		}
	}
	return 100 * sum / float64(n) / r.Cores
}

// usedAlone is a bound, not a run: as many jobs as are there, but one per node,
// each as busy as those that run.
func usedAlone(r *run) float64 {
	if len(r.Heat) == 0 {
		return math.NaN()
	}
	nodes := len(r.Heat[0])
	return usedShare(r, func(s *sim.Sample) float64 {
		if s.Running == 0 {
			return 0
		}
		return s.Used / float64(s.Running) * float64(min(nodes, s.Running+s.Waiting))
	})
}

// late is over the first of jobs, shortest first.
func late(all []*sim.Record, percentile int) float64 {
	n := (len(all)*percentile + 99) / 100
	return meanLate(all[:n])
}

func meanLate(all []*sim.Record) float64 {
	sum := 0.0
	for _, rec := range all {
		sum += max(0, float64(rec.Ended-rec.Ready)/float64(rec.Ideal)-1)
	}
	return 100 * sum / float64(len(all))
}

// parts are the details by class and by priority, where there are several.
func parts(r *run) []named {
	var out []named
	classes := map[string][]*sim.Record{}
	priorities := map[int][]*sim.Record{}
	names := truth.ClassNames()
	for i := range r.Records {
		rec := &r.Records[i]
		priorities[int(rec.Priority)] = append(priorities[int(rec.Priority)], rec)
		if c := int(rec.Class); c >= 0 && c < len(names) {
			classes[names[c]] = append(classes[names[c]], rec)
		}
	}
	if len(classes) > 1 {
		for _, name := range names {
			out = append(out, ofClass(name, classes[name])...)
		}
	}
	if len(priorities) > 1 {
		for _, p := range sortedKeys(priorities) {
			done := slices.DeleteFunc(slices.Clone(priorities[p]), func(r *sim.Record) bool { return r.Outcome != sim.Done || r.Ideal <= 0 })
			out = append(out, named{fmt.Sprintf("late:%d", p), meanLate(done)})
		}
	}
	return append(out, estimateParts(r)...)
}

// named is a value with the name of its metric.
type named struct {
	name  string
	value float64
}

func ofClass(name string, records []*sim.Record) []named {
	if len(records) == 0 {
		return nil
	}
	sum, inverse, kept, bound := 0.0, 0.0, 0, 0.0
	for _, r := range records {
		p := min(1, r.Performance())
		sum, inverse, bound = sum+p, inverse+1/p, bound+float64(r.InBound)
		if r.Performance() >= sim.QoS-shareTolerance {
			kept++
		}
	}
	n := float64(len(records))
	out := []named{
		{"performance:" + name, 100 * sum / n}, {"qos:" + name, 100 * float64(kept) / n},
		{"hmean:" + name, 100 * n / inverse}, // 0 where a job never ended
	}
	if truth.Service(name) {
		out = append(out, named{"in_bound:" + name, 100 * bound / n})
	}
	return out
}

func sortedKeys(m map[int][]*sim.Record) []int {
	var out []int
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// Spreads are the distributions of a line that pictures need.
const (
	SpreadPlatform     = "platform"
	SpreadInterference = "interference"
	SpreadWait         = "wait_seconds"
	SpreadDeciding     = "deciding_ms"
	SpreadStay         = "stay_seconds"
)

// spread is each distribution at curvePoints quantiles.
func spread(r *run) map[string][]float64 {
	out := map[string][]float64{}
	for name, values := range map[string][]float64{
		SpreadPlatform: sorted(r, ended(platform)), SpreadInterference: sorted(r, undisturbed),
		SpreadWait: r.waits(), SpreadDeciding: r.decidings(), SpreadStay: times(r, arrivedAt),
	} {
		if len(values) == 0 {
			continue
		}
		points := make([]float64, curvePoints)
		for i := range points {
			points[i] = round(quantile(values, float64(i)/(curvePoints-1)))
		}
		out[name] = points
	}
	return out
}

func sum(v []float64) float64 {
	total := 0.0
	for _, x := range v {
		total += x
	}
	return total
}

func doneRecords(r *run) []*sim.Record {
	var out []*sim.Record
	for i := range r.Records {
		if r.Records[i].Outcome == sim.Done {
			out = append(out, &r.Records[i])
		}
	}
	return out
}

func iopsTotal(r *run) float64 {
	total := 0.0
	for _, rec := range doneRecords(r) {
		total += float64(rec.IOPS)
	}
	return total
}

func workDone(r *run) float64 {
	total := 0.0
	for _, rec := range doneRecords(r) {
		total += rec.Ideal.Seconds()
	}
	return total
}

// lifeTotal is NaN where a job never ended, or shared its node with several.
func lifeTotal(r *run) float64 {
	nodes := map[int32][]*sim.Record{}
	for i := range r.Records {
		rec := &r.Records[i]
		if rec.Outcome != sim.Done {
			return math.NaN()
		}
		nodes[rec.Node] = append(nodes[rec.Node], rec)
	}
	total := 0.0
	for i := range r.Records {
		if total += life(&r.Records[i], nodes[r.Records[i].Node]); math.IsNaN(total) {
			break
		}
	}
	return total
}

// life is how long a job takes next to the only other one that it met, if it stays. Of the real
// run some was in isolation, where the job goes as fast as ideally; what that left of its work was
// done in the time they shared.
func life(r *sim.Record, onNode []*sim.Record) float64 {
	run, shared := r.Ended-r.Started, time.Duration(0)
	met := 0
	for _, other := range onNode {
		if both := min(r.Ended, other.Ended) - max(r.Started, other.Started); other != r && both > 0 {
			shared += both
			met++
		}
	}
	switch {
	case met > 1:
		return math.NaN()
	case met == 0:
		return run.Seconds()
	}
	work := r.Ideal - (run - shared) // of what takes the ideal time in isolation
	return r.Ideal.Seconds() * shared.Seconds() / work.Seconds()
}
