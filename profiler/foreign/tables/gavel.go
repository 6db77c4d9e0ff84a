package tables

import "strings"

// The tables of training jobs on GPUs, in isolation and in pairs that share their
// GPUs (stanford-futuredata/gavel).
var (
	GavelSolo  = Spec{Name: "solo_throughput", Columns: []string{"gpu", "job_type", "scale_factor", "steps_per_s"}}
	GavelPairs = Spec{Name: "pair_throughput", Columns: []string{"gpu", "job_type_a", "scale_a", "job_type_b", "scale_b", "steps_per_s_a", "steps_per_s_b"}}
)

// GavelGPU is a type of GPU.
type GavelGPU struct {
	Kind   string
	Spread bool // the workers are on several servers, which makes them slower
}

// GavelJob is a model with its batch size, on a number of GPUs.
type GavelJob struct {
	Model string
	GPUs  int
}

// GavelSoloRun is one row of GavelSolo.
type GavelSoloRun struct {
	GPU         GavelGPU
	Job         GavelJob
	StepsPerSec float64 // 0: none in the source
}

// GavelPairRun is one row of GavelPairs.
type GavelPairRun struct {
	GPU         GavelGPU
	Jobs        [2]GavelJob
	StepsPerSec [2]float64 // of each next to the other; 0: they do not fit in memory, or were not run
}

// GavelSoloOf reads a row.
func GavelSoloOf(r Row) GavelSoloRun {
	return GavelSoloRun{Job: gavelJob(r, "job_type", "scale_factor"), GPU: gavelGPU(r), StepsPerSec: r.ZeroOrMore("steps_per_s")}
}

// GavelPairOf reads a row.
func GavelPairOf(r Row) GavelPairRun {
	return GavelPairRun{
		GPU:         gavelGPU(r),
		Jobs:        [2]GavelJob{gavelJob(r, "job_type_a", "scale_a"), gavelJob(r, "job_type_b", "scale_b")},
		StepsPerSec: [2]float64{r.ZeroOrMore("steps_per_s_a"), r.ZeroOrMore("steps_per_s_b")},
	}
}

// maxGPUs bounds the numbers of GPUs that are believed.
const maxGPUs = 1024

func gavelJob(r Row, model, gpus string) GavelJob {
	return GavelJob{r.Text(model), r.Count(gpus, 1, maxGPUs)}
}

func gavelGPU(r Row) GavelGPU {
	kind, spread := strings.CutSuffix(r.Text("gpu"), "_unconsolidated")
	return GavelGPU{kind, spread}
}
