package figures

import "slices"

// Experiments lists all, by paper in its order.
func Experiments() []Experiment {
	return slices.Concat(
		paragonExperiments,
		quasarExperiments,
		ibenchExperiments,
		arqExperiments,
		tarcilExperiments,
		hcloudExperiments,
		storageExperiments,
		blocExperiments,
		echoExperiments,
		lshExperiments,
		pprtteExperiments,
		lotesExperiments, drawnExperiments(),
		traconExperiments,
	)
}
