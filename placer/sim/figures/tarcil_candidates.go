package figures

var tarcilCandidates = Experiment{
	ID: "tarcil-7.9", Paper: "tarcil", Where: "figure 7.9", Title: "Number of candidates",
	Scenarios: []string{"tarcil-candidates"}, Headline: of("tarcil-8").load(0.6),
	Quantities: []Quantity{
		responseMean.from(published{"tarcil-8 at 0.6": pictured, "tarcil-8 at 0.9": pictured}),
		responseTail, metric("plans refused", "%", "refused_plans"), metric("mean decision time", "ms", "deciding_mean"),
	},
	Requires: []Requirement{
		compared("up to 32 candidates cost at most 10 % of the response time", func(v []float64) bool { return v[1] <= 1.1*v[0] },
			uses(responseMean, of("tarcil-8").load(0.6), of("tarcil-32").load(0.6))...),
		compared("128 cost more than that", func(v []float64) bool { return v[1] > 1.1*v[0] },
			uses(responseMean, of("tarcil-8").load(0.6), of("tarcil-128").load(0.6))...),
		compared("at high load, 4, 8 or 16 are the best", func(v []float64) bool { return min(v[1], v[2], v[3]) <= min(v[0], v[4], v[5], v[6]) },
			uses(responseMean, of("tarcil-2").load(0.9), of("tarcil-4").load(0.9), of("tarcil-8").load(0.9), of("tarcil-16").load(0.9), of("tarcil-32").load(0.9), of("tarcil-64").load(0.9), of("tarcil-128").load(0.9))...),
	},
	Why: whyTasks + whyDecisions,
	Plots: []Plot{
		sweep("Mean response by the number of candidates", responseMean, "candidates", "", true,
			sweepLine{"load 30 %", []sweepPoint{{2, of("tarcil-2").load(0.3)}, {4, of("tarcil-4").load(0.3)}, {8, of("tarcil-8").load(0.3)}, {16, of("tarcil-16").load(0.3)}, {32, of("tarcil-32").load(0.3)}, {64, of("tarcil-64").load(0.3)}, {128, of("tarcil-128").load(0.3)}}},
			sweepLine{"load 60 %", []sweepPoint{{2, of("tarcil-2").load(0.6)}, {4, of("tarcil-4").load(0.6)}, {8, of("tarcil-8").load(0.6)}, {16, of("tarcil-16").load(0.6)}, {32, of("tarcil-32").load(0.6)}, {64, of("tarcil-64").load(0.6)}, {128, of("tarcil-128").load(0.6)}}},
			sweepLine{"load 90 %", []sweepPoint{{2, of("tarcil-2").load(0.9)}, {4, of("tarcil-4").load(0.9)}, {8, of("tarcil-8").load(0.9)}, {16, of("tarcil-16").load(0.9)}, {32, of("tarcil-32").load(0.9)}, {64, of("tarcil-64").load(0.9)}, {128, of("tarcil-128").load(0.9)}}}),
	},
}

// The response of a job: from submission to its end.
var (
	responseMean = thousandfold("mean response", "stay_mean")
	responseTail = thousandfold("95th percentile of the response", "stay_p95")
)
