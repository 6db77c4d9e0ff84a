package calibration

// Case is a cluster shape, and the scenario whose rows, entries, classes and classifier it is judged
// with.
type Case struct{ Shape, Scenario string }

// The clusters that papers print accuracies of.
const (
	paragonLocal = "paragon-local-40"
	quasarLocal  = "quasar-local-40"
)

// Cases lists the shapes of the scenarios that draw their applications, each once.
func Cases() []Case {
	return []Case{
		{paragonLocal, "paragon-local-medium"},
		{"paragon-ec2-1000", "paragon-ec2-high"},
		{"paragon-azure-500", "paragon-azure"},
		{"paragon-gce-100", "paragon-gce"},
		{quasarLocal, "quasar-multiple"},
		{"quasar-ec2-200", "quasar-large"},
		{"tarcil-100", "tarcil-loads"},
		{"tarcil-100-heterogeneous", "tarcil-mixed"},
		{"tarcil-400", "tarcil-heterogeneous"},
	}
}
