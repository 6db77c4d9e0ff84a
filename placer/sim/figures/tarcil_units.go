package figures

var tarcilUnits = Experiment{
	ID: "tarcil-7.15", Paper: "tarcil", Where: "figure 7.15", Title: "Quality of the units in use over time",
	Missing: "qualities of units are a policy's own and are not kept by a run.",
}
