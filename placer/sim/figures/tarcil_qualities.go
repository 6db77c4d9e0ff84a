package figures

var tarcilQualities = Experiment{
	ID: "tarcil-7.2", Paper: "tarcil", Where: "figure 7.2", Title: "Qualities of resource units",
	Missing: "qualities of units are a policy's own and are not kept by a run. TestGoodShare of placer/policy counts units that are good for a target.",
}
