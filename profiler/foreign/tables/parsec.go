package tables

// ParsecUnderKernels are run times of PARSEC programs next to the released iBench
// kernels, measured by groups of a course (eth-easl/cloud-comp-arch-project).
var ParsecUnderKernels = Spec{Name: "parsec_under_ibench", Columns: []string{"source", "suite", "app", "interference", "rep", "real_s"}}

// NoKernel is the name of a run without a kernel.
const NoKernel = "none"

// ParsecRun is one row of ParsecUnderKernels.
type ParsecRun struct {
	Repository     string // of the group
	Suite, Program string
	Kernel         string // as iBench calls it, or NoKernel
	Repetition     int
	Seconds        float64
}

// ParsecRunOf reads a row.
func ParsecRunOf(r Row) ParsecRun {
	return ParsecRun{
		Repository: r.Text("source"), Suite: r.Text("suite"), Program: r.Text("app"), Kernel: r.Text("interference"),
		Repetition: r.Count("rep", 1, MaxRepetitions), Seconds: r.Positive("real_s"),
	}
}
