package profile

import "time"

// PairFormat is the version of the JSON form of a Pair.
const PairFormat = 1

// Pair is the measured slowdown of two workloads that run together, against
// each alone on the same CPUs: the ground truth of a prediction.
type Pair struct {
	Format    int       `json:"format"`
	Placement string    `json:"placement"` // "same": both on one set of CPUs, "beside": on neighbouring CPUs
	Taken     time.Time `json:"taken"`
	Machine   Machine   `json:"machine"`
	Pairs     int       `json:"pairs"` // windows together, each between windows alone
	A         PairSide  `json:"a"`
	B         PairSide  `json:"b"`
	DataSet   *DataSet  `json:"data_set,omitempty"` // set: measured by others, and imported
	Warnings  []string  `json:"warnings,omitempty"`
}

// PairSide is one of the two workloads of a Pair. Ratio is the speed together
// over the speed in isolation, with its 95 % confidence interval; below 1 is a loss.
type PairSide struct {
	Key         string      `json:"key"`
	Application string      `json:"application"`
	CPUs        []int       `json:"cpus"`
	Isolated    Measurement `json:"alone"`
	Together    Measurement `json:"together"`
	Ratio       float64     `json:"ratio"`
	Low         float64     `json:"low"`
	High        float64     `json:"high"`
}
