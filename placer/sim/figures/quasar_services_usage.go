package figures

var quasarServicesUsage = Experiment{
	ID: "quasar-q11", Paper: "quasar", Where: "figure 4.14", Title: "Services with state: use of resources by workload",
	Missing: "use is kept by node and moment, not by workload and resource.",
}
