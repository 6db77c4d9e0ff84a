package evaluate

import "github.com/nomad-placer/nomad-placer/placer/sim/dataset"

// Published is what a paper reports, by metric name; its workloads and machines
// are not ours.
type Published struct {
	Kind    dataset.Kind       `json:"kind"`
	Source  string             `json:"source"`
	Figures map[string]float64 `json:"figures"`
}

// PublishedFigures lists the tables that the metrics restate.
func PublishedFigures() []Published {
	return []Published{
		{dataset.Exhaustive, "Delimitrou 2015, table 4.3: Hadoop, 8 entries", map[string]float64{MeanError: 14.1, RowNinetieth: 15.8, RowWorst: 16}},
		{dataset.Heterogeneity, "Delimitrou 2015, table 3.1 and §3.2.2: all workloads", map[string]float64{BestFound: 84, WithinFive: 90, MeanError: 3.8}},
		{dataset.Heterogeneity, "Delimitrou 2015, table 4.2: Hadoop", map[string]float64{MeanError: 4.1, RowNinetieth: 4.6, RowWorst: 5}},
		{dataset.Interference, "Delimitrou 2015, table 3.2: all sources; under 5 to 20 multi-threaded", map[string]float64{
			MeanError: 5.3, BandLow: 7.1, BandMiddle: 5.6, BandHigh: 3.4, Under5: 58, Under10: 63, Under20: 89,
		}},
		{dataset.Interference, "Delimitrou 2015, table 4.2: single-node", map[string]float64{MeanError: 4.4, RowNinetieth: 9.2, RowWorst: 10}},
		{dataset.ScaleOut, "Delimitrou 2015, table 4.2: Hadoop", map[string]float64{MeanError: 5, RowNinetieth: 14.5, RowWorst: 17}},
		{dataset.ScaleUp, "Delimitrou 2015, table 4.2: single-node", map[string]float64{MeanError: 4, RowNinetieth: 8.1, RowWorst: 9}},
	}
}
