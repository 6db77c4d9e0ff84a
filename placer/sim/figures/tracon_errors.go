package figures

// whyTraconNoise is what keeps models from the published error.
const whyTraconNoise = "A point is a third of a second on a virtual machine whose disk and CPU others use; the rows of other repeats say how wrong other measurements of the very same pair are, which is more than the published error of a prediction. "

var traconErrorsExperiment = Experiment{
	ID: "tracon-3", Paper: "tracon", Where: "figure 3a and 3b", Title: "Prediction errors of WMM, LM and NLM",
	Compute: traconErrors, Headline: of("runtime of nlm, held-out backgrounds"),
	Quantities: []Quantity{
		traconMean.from(published{thePaper: about(10)}), metric("standard deviation", "%", "deviation"), metric("median error", "%", "median"),
	},
	Requires: append(append(traconModels("runtime"), traconModels("iops")...),
		atMost("NLM is wrong by 10 %", traconMean, 10, of("runtime of nlm, held-out backgrounds"), of("iops of nlm, held-out backgrounds")),
		compared("without the CPU of the host the error of NLM about doubles (at least half as much again)", func(v []float64) bool { return v[1] >= 1.5*v[0] },
			uses(traconMean, of("runtime of nlm, held-out backgrounds"), of("runtime of nlm, without the host's CPU, held-out backgrounds"))...)),
	Why: whyTraconNoise + "Requests of our background have a mebibyte, those of most applications four kibibytes: with requests as the characteristic, as published, the disk use of real neighbours lies outside of what was learnt; with bytes it does not, but the CPU time of the host still does: programs of many small requests or files spend up to three times what any background does, and count as its edge. That time is counted by ticks and adds little to the others here. Programs, disk and processor are others. ",
}

var traconMean = metric("mean error", "%", "mean")

// traconModels are what the paper shows of the three models.
func traconModels(response string) []Requirement {
	var out []Requirement
	for _, on := range []string{"held-out backgrounds", "real neighbours"} {
		at := func(model string) At { return of(response + " of " + model + ", " + on) }
		out = append(out, compared(response+", "+on+": NLM is better than LM and WMM, which are at least twice as wrong", func(v []float64) bool { return min(v[1], v[2]) >= 2*v[0] },
			uses(traconMean, at("nlm"), at("lm"), at("wmm"))...))
	}
	return out
}
