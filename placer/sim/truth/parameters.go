package truth

// Parameters are what a fit may move of what drawn applications do (decision 0058). What is not
// among them is a constant with its source.
type Parameters struct {
	// Platforms is where the differences between configurations come from where a Spec does
	// not say so; empty is Hardware.
	Platforms Platforms `json:"platforms,omitempty"`
	// Tastes say what a configuration of Published is good at.
	Tastes Tastes `json:"tastes"`
	// PlatformStrength is the deviation over programs of the logarithm of the speed, by factor,
	// per deviation of a configuration's taste.
	PlatformStrength [platformFactors]float64 `json:"platform_strength_ln"`
	// PlatformResidual is the deviation of that logarithm that no factor explains.
	PlatformResidual float64 `json:"platform_residual_ln"`
	// RunNoise is the deviation of the logarithm of what a run of a minute measures.
	RunNoise float64 `json:"run_noise_ln"`
	// KindSpread is the deviation of a feature within its kind; features go from 0 to 1.
	KindSpread float64 `json:"kind_spread"`
	// ScoreResidual is the deviation of what follows from no feature: of a need of a source,
	// which goes from 0 to 1, and, times 100, of a tolerated score in points.
	ScoreResidual float64 `json:"score_residual"`
	// MemoryShare is the share, 0 to 1, of the need of each source of the memory hierarchy that
	// is common to all of them: how much a program lives off memory or a cache, whichever it
	// is more.
	MemoryShare float64 `json:"memory_share"`
	// PressurePerCore is what a program of one core that leans on a source fully exerts on a
	// machine of ReferenceCores, percent of the source.
	PressurePerCore float64 `json:"pressure_per_core_percent"`
	// ReferenceCores and SizeExponent: what cores share is the larger, the more of them there
	// are, so that pressure on it is multiplied by (ReferenceCores / cores)^SizeExponent. An
	// exponent of 0 makes machines of all sizes alike.
	ReferenceCores float64 `json:"reference_cores"`
	SizeExponent   float64 `json:"size_exponent"`
}

// Tastes are how what configurations are good at is drawn.
type Tastes string

const (
	// FamilyTastes are alike within a microarchitecture.
	FamilyTastes Tastes = "family"
	// OwnTastes are those of each configuration. The first factor is how strong a configuration is, evenly
	// spaced from the weakest to the strongest: what programs have in common that the paper
	// names first is that they gain from a high clock (Delimitrou 2015, §3.2.2). The other
	// factors are drawn.
	OwnTastes Tastes = "own"
)

// DefaultParameters are those of a world that no fit has moved.
func DefaultParameters() Parameters {
	return Parameters{
		Tastes:           FamilyTastes,
		PlatformStrength: [platformFactors]float64{0.30, 0.012, 0.009}, // see platformFactors
		PlatformResidual: 0.007,                                        // see platformFactors
		// Between the median replicate deviations of 2.1 and 2.9 % of the runs of 172 workloads on
		// 33 virtual machine types (lumos-cloud-perf).
		RunNoise:   0.025,
		KindSpread: 0.10, // chosen by us
		// The part of scores that follows from nothing else. Completed from two sources of ten
		// they were published to be 5.3 points off on average (Delimitrou 2015, table 3.2), so it
		// is no larger than a deviation of 6.6 points; 5 is ours.
		ScoreResidual:   0.05,
		PressurePerCore: 150, // doc.go
		// The server whose scores were printed (Delimitrou 2015, §5.5.2) has four cores.
		ReferenceCores: 4,
	}
}
