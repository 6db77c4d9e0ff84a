package figures

var quasarLargeOverheads = Experiment{
	ID: "quasar-q13", Paper: "quasar", Where: "figure 4.15b", Title: "1,200 workloads on 200 servers: overheads",
	Scenarios: []string{"quasar-large"}, Headline: of("quasar"),
	Quantities: []Quantity{
		metric("before the start, of a job's time", "%", "overhead_share").from(published{"quasar": n(4.1)}),
		profilingShare, decidingShare, waitingShare,
	},
	Requires: []Requirement{
		atMost("Quasar's overheads are at most 5 % on average", metric("before the start", "%", "overhead_share"), 5, of("quasar")),
		ahead("reservations on least-loaded servers wait longer", waitingShare, 0, of("reservation-ll"), of("quasar")),
	},
	Why: "Profiling takes a stated quarter of a minute of jobs whose durations are ours; adaptation is charged as restarts and moves, inside the run. " + whyDecisions,
}
