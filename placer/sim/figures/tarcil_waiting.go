package figures

var tarcilWaiting = Experiment{
	ID: "tarcil-7.6", Paper: "tarcil", Where: "figure 7.6", Title: "Estimated waiting times",
	Missing: "a run does not keep the controller's estimates. TestWaitEstimate of placer/sim/admission compares them with what is observed.",
}
