package figures

var arqFree = Experiment{
	ID: "arq-free", Paper: "arq", Where: "§6.4, figure 6.2", Title: "Busy times and the chance of a free server",
	Missing: "a run does not keep the controller's estimates. TestFreeNodeChance of placer/sim/admission compares the estimated chance of a free node with what is observed, within the published 0.08.",
}
