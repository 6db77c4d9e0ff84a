package main

// rule says what the packages it covers may import from this module. The first
// rule that covers a package is its rule.
type rule struct {
	layer string
	// packages are paths inside the module; "x/..." covers x and all below it,
	// "*/cmd/..." any first folder, and ".../*test" every package whose name ends
	// in "test".
	packages []string
	// may lists what may be imported, in the same form.
	may []string
	// external lists the modules and packages outside this one that may be
	// imported, by prefix; nil allows all. The standard library always may be.
	external []string
	// pure forbids the wall clock and global randomness:
	// time and randomness are arguments.
	pure bool
	// because is the sentence a violation is explained with.
	because string
}

// The groups of packages the rules speak of.
var (
	words      = []string{"profiler/interference", "profiler/performance", "profiler/profile", "placer/disk", "placer/cluster", "placer/board", "placer/wording"}
	arithmetic = []string{"placer/numeric/...", "profiler/stat"}
	measuring  = []string{"profiler/..."}
	deciding   = []string{
		"placer/classify/...", "placer/predict/...", "placer/policy/...",
		"placer/provision/...", "placer/consolidate/...", "placer/adapt",
	}
)

// rules is the house's table of who may import whom: words ← arithmetic ←
// measuring and deciding ← engine ← worlds ← edges ← mains. Order matters.
var rules = []rule{
	{
		layer: "mains", packages: []string{"*/cmd/...", "e2e/...", "examples/..."}, may: []string{"..."},
	},
	{
		layer: testSupport, packages: []string{".../*test"}, may: []string{"..."},
		because: "test support is imported by tests only",
	},
	{
		layer: "words", packages: []string{"profiler/interference"}, external: []string{}, pure: true,
		because: "interference is the vocabulary everything else builds on",
	},
	{
		layer: "words", packages: []string{"profiler/performance", "profiler/profile"}, pure: true,
		may: []string{"profiler/interference", "profiler/performance"}, external: []string{},
		because: "the words know no arithmetic and no world",
	},
	{
		layer: "words", packages: []string{"placer/disk"}, pure: true,
		may: []string{"profiler/performance"}, external: []string{},
		because: "the ledger adds promises up and knows neither nodes nor jobs",
	},
	{
		layer: "words", packages: []string{"placer/cluster"}, pure: true,
		may: []string{"profiler/interference", "profiler/performance", "profiler/profile", "placer/disk"}, external: []string{"github.com/hashicorp/go-version"},
		because: "the words know no arithmetic and no world",
	},
	{
		layer: "words", packages: []string{"placer/board"}, pure: true,
		may: []string{"profiler/interference", "profiler/performance", "profiler/profile", "placer/disk", "placer/cluster"}, external: []string{},
		because: "the board is the cluster in numbers: it knows no policy and no world",
	},
	{
		layer: "words", packages: []string{"placer/wording"}, pure: true,
		may: []string{"profiler/interference", "profiler/performance", "profiler/profile", "placer/cluster"}, external: []string{},
		because: "numbers and records in words: every room may print them, so it knows none",
	},
	{
		layer: "arithmetic", packages: arithmetic, may: arithmetic, external: []string{"gonum.org/v1/gonum"}, pure: true,
		because: "arithmetic works on floats and matrices and knows no domain type",
	},
	{
		layer: "drawing", packages: []string{"profiler/chart"}, external: []string{}, pure: true,
		because: "charts are drawn from numbers and texts, whatever they mean",
	},
	{
		layer: "measuring", packages: []string{"profiler/workload/network/capture", "profiler/workload/network/replay"}, may: []string{"profiler/workload/..."},
		because: "traffic is captured and sent by what knows its model and nothing of what measures or places",
	},
	{
		layer: "measuring", packages: []string{"profiler/workload/..."}, pure: true,
		may: []string{"profiler/stat", "profiler/chart", "profiler/workload/..."}, external: []string{"gonum.org/v1/gonum", "github.com/HdrHistogram/hdrhistogram-go", "golang.org/x/sync"},
		because: "models of workloads are arithmetic over traces: the same seed gives the same bytes, and deciding may use them",
	},
	{
		layer: "measuring", packages: measuring, may: measuring,
		because: "profiler never imports placer: measuring must not depend on deciding",
	},
	{
		layer: "deciding", packages: []string{"placer/classify/..."}, pure: true,
		may: concat(words, arithmetic, []string{"profiler/curve", "profiler/workload/...", "profiler/training/...", "profiler/store", "placer/classify/..."}), external: []string{"gonum.org/v1/gonum"},
		because: "classifiers are pure; they read profiles and the curves in them, and their evaluation reads data sets",
	},
	{
		layer: "deciding", packages: []string{"placer/predict/..."}, pure: true,
		may: concat(words, arithmetic, []string{"profiler/workload/...", "placer/predict/..."}), external: []string{"gonum.org/v1/gonum"},
		because: "models are pure: state, time and randomness are arguments",
	},
	{
		layer: "deciding", packages: []string{"placer/adapt"}, pure: true,
		may:     concat(words, arithmetic, []string{"placer/predict/...", "placer/policy"}),
		because: "adapters are pure: board and observations in, actions out; a world carries them out",
	},
	{
		layer: "deciding", packages: []string{"placer/provision/tracker"}, pure: true,
		may:     concat(words, arithmetic, []string{"placer/provision"}),
		because: "the account of rented nodes decides by the strategies alone, and knows no world",
	},
	{
		layer: "deciding", packages: deciding, pure: true,
		may: concat(words, arithmetic, []string{"profiler/workload/...", "profiler/training/...", "placer/predict/..."}), external: []string{"gonum.org/v1/gonum"},
		because: "policies, classifiers and models are pure and see no world, no engine and not each other (except predict)",
	},
	{
		layer: "engine", packages: []string{"placer/journal"}, pure: true,
		may:     concat(words, []string{"profiler", "profiler/store", "placer/policy", "placer/provision/..."}),
		because: "the journal is below the rooms of the engine: they write it, and it knows none of them",
	},
	{
		layer: "engine", packages: []string{"placer/profiling"}, pure: true,
		may:     concat(words, arithmetic, measuring, deciding, []string{"placer/journal"}),
		because: "profiling knows workloads: it neither places nor adapts them",
	},
	{
		layer: "engine", packages: []string{"placer/provisioning"}, pure: true,
		may:     concat(words, arithmetic, measuring, deciding, []string{"placer/journal", "placer/profiling"}),
		because: "renting knows nodes and sides: it neither places nor adapts workloads",
	},
	{
		layer: "engine", packages: []string{"placer/placement"}, pure: true,
		may:     concat(words, arithmetic, measuring, deciding, []string{"placer/journal", "placer/profiling"}),
		because: "placement decides by what profiling knows, and does not adapt what runs",
	},
	{
		layer: "engine", packages: []string{"placer/adaptation"}, pure: true,
		may:     concat(words, arithmetic, measuring, deciding, []string{"placer/journal", "placer/profiling", "placer/placement"}),
		because: "adaptation corrects what runs by asking placement, and does not evaluate jobs",
	},
	{
		layer: "engine", packages: []string{"placer/engine"}, pure: true,
		may:     concat(words, arithmetic, measuring, deciding, []string{"placer/journal", "placer/profiling", "placer/provisioning", "placer/placement", "placer/adaptation"}),
		because: "the engine talks to interfaces: simulated or real is never an if, and no policy may see sim/truth",
	},
	{
		layer: "worlds", packages: []string{"placer/sim/admission/..."}, pure: true,
		may: concat(words, arithmetic, []string{"profiler/training/...", "placer/predict/...", "placer/provision", "placer/sim/admission/..."}), external: []string{"gonum.org/v1/gonum"},
		because: "admission controllers are pure: they see no world and no truth",
	},
	{
		layer: "worlds", packages: []string{"placer/sim/truth/...", "placer/sim/trace/...", "placer/sim/shape/..."},
		may:     concat(words, arithmetic, []string{"profiler/...", "placer/sim/truth/...", "placer/sim/trace/...", "placer/sim/shape/..."}),
		because: "what really happens, and what was recorded, know no policy",
	},
	{
		layer: "worlds", packages: []string{"placer/sim/..."},
		may:     concat(words, arithmetic, deciding, []string{"profiler/...", "placer/sim/..."}),
		because: "the simulator drives policies, admission and adaptation itself, through their interfaces (decision 0008), and knows no other world",
	},
	{
		layer: "transport", packages: []string{"placer/certificate"}, external: []string{},
		because: "files of certificates know nothing of what they protect",
	},
	{
		layer: "transport", packages: []string{"placer/autoscaler", "placer/autoscaler/protocol"}, may: []string{"placer/autoscaler/protocol"},
		external: []string{"github.com/hashicorp/go-hclog", "github.com/hashicorp/go-plugin", "google.golang.org/grpc", "google.golang.org/protobuf"},
		because:  "the protocol of the autoscaler's plugins knows nothing of what is scaled, or why",
	},
	{
		layer: "worlds", packages: []string{"placer/autoscaler/targetplugin"}, may: concat(words, []string{"placer/autoscaler", "placer/autoscaler/protocol"}),
		because: "a provider feeds the engine through placer/cluster and knows neither deciding nor a world",
	},
	{
		layer: "worlds", packages: []string{"placer/traffic"}, may: concat(words, []string{"profiler/workload/network"}),
		because: "captured traffic feeds the engine through placer/cluster, as a world does, and knows neither deciding nor Nomad",
	},
	{
		layer: "worlds", packages: []string{"placer/throttle"}, may: concat(words, []string{"profiler/blockio"}), external: []string{"golang.org/x/sys"},
		because: "limits are of what the records promise, through placer/cluster: who bounds a disk knows neither deciding nor Nomad",
	},
	{
		layer: "worlds", packages: []string{"placer/nomadapi/..."},
		may:     concat(words, []string{"profiler/...", "placer/certificate", "placer/nomadapi/..."}),
		because: "a world feeds the engine through placer/cluster and knows neither deciding nor another world",
	},
	{
		layer: "edges", packages: []string{"placer/dispatch"}, may: []string{"placer/wording"}, external: []string{"github.com/hashicorp/nomad/api"},
		because: "units of work are bytes to who hands them out, whatever they are of",
	},
	{
		layer: "edges", packages: []string{"placer/fleet"}, may: concat(words, []string{"profiler/...", "placer/dispatch", "placer/nomadapi"}), external: []string{},
		because: "a campaign measures on the nodes of a real cluster; it decides nothing",
	},
	{
		layer: "edges", packages: []string{"driver/..."}, may: concat(words, []string{"profiler/...", "driver/..."}),
		because: "the driver measures and exerts pressure; it decides nothing",
	},
	{
		layer: "edges", packages: []string{"hcl/..."}, may: concat(words, []string{"profiler/probe", "hcl/..."}),
		because: "hcl turns text into words",
	},
	{
		layer: "edges", packages: []string{"placer/command/..."}, may: []string{"hcl", "placer/wording", "placer/command/..."},
		because: "the frame of the command lines knows no command",
	},
	{
		layer: "edges", packages: []string{"placer/access"}, external: []string{"github.com/hashicorp/golang-lru/v2", "golang.org/x/sync", "golang.org/x/time"},
		because: "who may see what is Nomad's answer, whatever there is to see",
	},
	{
		layer: "edges", packages: []string{"placer/dashboard/..."}, may: concat(words, []string{"profiler/chart", "placer/access", "placer/provision", "placer/traffic", "placer/dashboard/..."}),
		because: "the dashboard shows records and decides nothing",
	},
	{
		layer: "edges", packages: []string{"placer/proxy/..."}, may: concat(words, []string{"profiler/chart", "placer/proxy/..."}),
		because: "the proxy speaks HTTP and asks the placer through its own interface",
	},
}

// testSupport is the layer of packages that only tests and other test support may
// import. As with net/http/httptest, their names end in "test".
const testSupport = "test support"

// products are the mains that are shipped. What they link must be open source, by
// module: Nomad itself is under the Business Source License, its api module is not.
var products = []string{"driver/cmd/nomad-driver-ibench", "placer/cmd/nomad-placer", "placer/cmd/nomad-placer-apm", "placer/cmd/nomad-placer-sim"}

// researchOnly are packages that the mains of onClusters must not link, directly
// or not: those programs run on clusters, the agent with a cluster's token, and
// what only research and measurements need is a program of its own (decision 0020).
var (
	researchOnly = []string{"placer/sim/...", "placer/cmd/nomad-placer-sim", "profiler/foreign/...", "e2e/...", "examples/..."}
	onClusters   = []string{"driver/cmd/nomad-driver-ibench", "placer/cmd/nomad-placer", "placer/cmd/nomad-placer-apm"}
)

// replays is the one program on clusters that also replays what it has on record, and
// replayed the part of the simulated world that this needs (decision 0059): no traces,
// scenarios, figures or data sets.
var (
	replays  = "placer/cmd/nomad-placer"
	replayed = []string{"placer/sim", "placer/sim/admission", "placer/sim/fleet", "placer/sim/truth", "placer/sim/whatif"}
)

func concat(lists ...[]string) []string {
	var all []string
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}
