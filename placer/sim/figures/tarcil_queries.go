package figures

var tarcilQueries = Experiment{
	ID: "tarcil-7.12a", Paper: "tarcil", Where: "figure 7.12a", Title: "TPC-H queries on an idle cluster",
	Missing: "jobs of the simulated world have one stage; queries are graphs of them, pinned to their data.",
}
