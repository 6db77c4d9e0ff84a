package figures

var quasarStragglers = Experiment{
	ID: "quasar-q3", Paper: "quasar", Where: "figure 4.8", Title: "Straggler detection",
	Missing: "a scenario cannot slow a single task down, and without injected stragglers there is no time of detection. The rule itself is checked by TestStragglersStartElsewhere of placer/adapt.",
}
