package figures

import "fmt"

// fromTable is a sentence with numbers of an experiment's table, one per row, that are looked up
// when it is printed.
func fromTable(id string, q Quantity, sentence string, rows ...string) string {
	var numbers []any
	for _, row := range rows {
		numbers = append(numbers, fmt.Sprintf("{{ours %q %q %q}}", id, q.Name, row))
	}
	return fmt.Sprintf(sentence, numbers...) + " "
}

// Causes of differences that several experiments share. They speak of how the
// two settings differ, not of the numbers that came out.
const (
	whyPrograms  = "The programs of the paper and their scores are not published; ours are drawn from measured curves and published distributions, with interactions that no policy assumes. "
	whyDurations = "Durations are not published either, and are chosen such that the load classes of the text hold. "
	whyProfiles  = "A profile is two noisy runs of a minute and two scores, completed from other applications; an error of a few points in a score decides whether 95 % is kept. "
	whyPlatforms = "How configurations differ follows published interactions of programs with machines; the text does not give its own. "
	whyServices  = "Services are drawn with a stated response to pressure and size; their latencies are not simulated, only the share of their load that is served. "
	whyBaseline  = "The baseline of the paper is the scheduler of a framework; ours reserves with the published error of users and takes the least loaded servers. "
	whyDecisions = "Decision times are a stated model: the paper gives totals only. "
	whyTasks     = "Tasks are drawn from programs of one core instead of Spark queries. "

	whyNoRoom = "A window of 5 % of a run is short compared with the runs of the other jobs: where nearly every core is wanted, hardly any better server comes free in it, and a job that waited is placed where it would have been without. Waiting for a configuration that is fast for the job is what ARQ gains by here; as printed (arq-printed) it takes the nearest pool, whatever its configurations. "

	whyNoLatency = "services have no latencies in the simulated world, only a share of their load that is served"
)
