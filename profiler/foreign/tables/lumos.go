package tables

// LumosRuns are runs of Hadoop, Spark and Hive on machine types of two clouds
// (jind5182/lumos-dataset). Its two campaigns differ in the column sar_interval_s.
var LumosRuns = Spec{Name: "runs_alibaba_huawei", Columns: []string{
	"cloud", "vm_type", "framework", "workload", "datasize", "run", "completed", "elapsed_s",
}}

// LumosCampaign is the column that tells the campaigns apart.
const LumosCampaign = "sar_interval_s"

// LumosRun is one row of LumosRuns.
type LumosRun struct {
	Cloud, Machine            string
	Framework, Workload, Size string
	Completed                 bool
	Seconds                   float64 // 0 where it did not complete
}

// LumosRunOf reads a row.
func LumosRunOf(r Row) LumosRun {
	run := LumosRun{
		Cloud: r.Text("cloud"), Machine: r.Text("vm_type"),
		Framework: r.Text("framework"), Workload: r.Text("workload"), Size: r.Text("datasize"),
	}
	r.Count("run", 1, MaxRepetitions)
	if run.Completed = r.Count("completed", 0, 1) == 1; run.Completed {
		run.Seconds = r.Positive("elapsed_s")
	}
	return run
}

// MaxRepetitions bounds the numbers of repetitions that are believed.
const MaxRepetitions = 1000
