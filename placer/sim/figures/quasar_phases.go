package figures

var quasarPhases = Experiment{
	ID: "quasar-q4", Paper: "quasar", Where: "§4.3.4", Title: "Detection of phases",
	Missing: "a run counts classifications made anew, but not which change of phase each of them answers. The rules are checked by TestBelowTargetThreeTimes and TestAFifthIsProbed of placer/adapt.",
}
