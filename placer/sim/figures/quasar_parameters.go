package figures

var quasarParameters = Experiment{
	ID: "quasar-q2", Paper: "quasar", Where: "figure 4.7", Title: "Parameters of a framework",
	Missing: "jobs of the simulated world have a size and a count, and no parameters of a framework.",
}
