package figures

var paragonBacktracking = Experiment{
	ID: "paragon-e18", Paper: "paragon", Where: "§3.4.1", Title: "1,000 servers, high load: backtracking of the greedy selection",
	Scenarios: []string{"paragon-ec2-high"}, Headline: of("paragon"), Rows: all("paragon", "nh", "paragon-oracle"),
	Quantities: []Quantity{
		metric("no bound broken", "%", "unrelaxed").from(published{"paragon": n(89)}),
		metric("in one source", "%", "relaxed_one").from(published{"paragon": n(8)}),
		metric("in several", "%", "relaxed_several").from(published{"paragon": n(3)}),
		metric("timed out", "%", "timed_out").from(published{"paragon": below(0.1)}),
	},
	Requires: []Requirement{
		atLeast("at least 80 % of placements break no bound", metric("no bound broken", "%", "unrelaxed"), 80, of("paragon")),
		compared("one source is relaxed more often than several", func(v []float64) bool { return v[0] > v[1] },
			use{metric("in one source", "%", "relaxed_one"), of("paragon")}, use{metric("in several", "%", "relaxed_several"), of("paragon")}),
		atMost("at most 0.1 % time out", metric("timed out", "%", "timed_out"), 0.1, of("paragon")),
	},
	Why: whyPrograms + "No time limit is set in the scenario, as the text gives none. ",
}
