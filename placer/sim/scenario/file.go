package scenario

// file is the grammar of a scenario file, after base and policies (base.go).
type file struct {
	Title       string            `hcl:"title"`
	Source      string            `hcl:"source,optional"`
	Notes       []string          `hcl:"notes,optional"`
	Seeds       []int             `hcl:"seeds"`
	Loads       []float64         `hcl:"loads,optional"` // of arrivals with by_load
	Limit       string            `hcl:"limit,optional"`
	Columns     []string          `hcl:"columns,optional"` // sources; the ten of Paragon
	In          string            `hcl:"world,optional"`   // that drawn applications are of; the one that no fit has moved
	Cluster     clusterBlock      `hcl:"cluster,block"`
	Populations []populationBlock `hcl:"population,block"`
	Traces      []traceBlock      `hcl:"trace,block"`
	Deadlines   []deadlinesBlock  `hcl:"deadlines,block"`
	JobClasses  *jobClassesBlock  `hcl:"job_classes,block"`
	Profiling   *profilingBlock   `hcl:"profiling,block"`
	World       *worldBlock       `hcl:"world,block"`
	Colocation  *colocationBlock  `hcl:"colocation,block"`
	Provision   *provisionBlock   `hcl:"provision,block"`
	Policies    []policyBlock     `hcl:"policy,block"`
}

type clusterBlock struct {
	Shape string      `hcl:"shape,optional"`
	Nodes string      `hcl:"machines,optional"` // a trace's machine table instead of a shape
	Kinds []kindBlock `hcl:"kind,block"`        // machines by hand instead of a shape
	Units *unitsBlock `hcl:"normalised,block"`
	Lose  []loseBlock `hcl:"lose,block"`
}

// unitsBlock is what 1 means in a machine table with normalised sizes.
type unitsBlock struct {
	Cores    float64 `hcl:"cores,optional"`
	MemoryMB float64 `hcl:"memory_mb,optional"`
}

// kindBlock is alike machines; sizes are shares of what normalised says 1 is.
type kindBlock struct {
	Machines int     `hcl:"machines"`
	CPU      float64 `hcl:"cpu"`
	Memory   float64 `hcl:"memory"`
}

type loseBlock struct {
	Nodes int    `hcl:"nodes"` // how many, drawn by the seed
	At    string `hcl:"at"`
	For   string `hcl:"for,optional"` // empty: for good
}

type populationBlock struct {
	Name         string        `hcl:"name,label"`
	Classes      []string      `hcl:"classes"`
	Weights      []int         `hcl:"weights,optional"`       // of the classes among the applications; equal
	EqualClasses bool          `hcl:"equal_classes,optional"` // each class is submitted as often as the others
	Applications int           `hcl:"applications,optional"`  // to draw from; one per job
	Jobs         int           `hcl:"jobs"`
	Phases       int           `hcl:"phases,optional"`
	Platforms    string        `hcl:"platforms,optional"` // hardware or published: how configurations differ
	Shape        string        `hcl:"shape,optional"`     // batch, tasks; a service is one by its class
	Tasks        int           `hcl:"tasks,optional"`
	Targets      bool          `hcl:"targets,optional"` // jobs have targets, and policies may size them
	Reservations string        `hcl:"reservations,optional"`
	Priority     int           `hcl:"priority,optional"`
	BestEffort   bool          `hcl:"best_effort,optional"`
	Swing        float64       `hcl:"load_swing,optional"`
	SwingPeriod  string        `hcl:"load_period,optional"`
	Spike        float64       `hcl:"load_spike,optional"` // added to the nominal load of 1
	SpikeAt      string        `hcl:"spike_at,optional"`   // of a service's life
	SpikeFor     string        `hcl:"spike_for,optional"`
	Pressure     float64       `hcl:"pressure,optional"`   // multiplies the pressure that applications exert; 1
	MostCores    int           `hcl:"most_cores,optional"` // of one allocation; 0 is as the class has them
	Arrivals     arrivalsBlock `hcl:"arrivals,block"`
	Duration     durationBlock `hcl:"duration,block"`
}

// jobClassesBlock is jobs of classes that differ in their needs and rates only: no
// interference. Their rate follows from the load, which is here a share of what the
// machines could serve by LoTES's machine assignment program.
type jobClassesBlock struct {
	For       string           `hcl:"for"`                // jobs arrive
	Drawn     int              `hcl:"drawn,optional"`     // classes, instead of class blocks
	Need      float64          `hcl:"need,optional"`      // of drawn classes, of each resource
	Phi       float64          `hcl:"phi,optional"`       // needs of drawn classes differ from it by up to this
	Omega     float64          `hcl:"omega,optional"`     // rates of a class differ between kinds of machines by up to this share
	Time      string           `hcl:"time,optional"`      // drawn mean times are shares of this; 1h
	Least     float64          `hcl:"least,optional"`     // of such a share; 0.02
	Variation float64          `hcl:"variation,optional"` // coefficient of variation of a job's needs in its class, truncated to the largest machine
	OneDraw   bool             `hcl:"one_draw,optional"`  // a job needs as much more than its class's mean of the one resource as of the other
	Declared  bool             `hcl:"declared,optional"`  // jobs state their class, and LoTES knows its means
	Drift     float64          `hcl:"drift,optional"`     // the shares of classes go up and down by this share, each day
	Classes   []jobClassBlock  `hcl:"class,block"`
	Trace     *classTraceBlock `hcl:"trace,block"`
}

type jobClassBlock struct {
	Time   string  `hcl:"time"`           // mean, exponential
	Sigma  float64 `hcl:"sigma,optional"` // lognormal instead, of this sigma and the same mean
	CPU    float64 `hcl:"cpu"`
	Memory float64 `hcl:"memory"`
	Share  float64 `hcl:"share"`
}

// classTraceBlock is what of Google's trace of 2011 is known: the tasks at the start, and how many
// jobs came in each hour.
type classTraceBlock struct {
	Path     string  `hcl:"path"`
	Initial  string  `hcl:"initial"`  // file of the tasks at the start
	Share    float64 `hcl:"share"`    // of those tasks that are there, drawn
	Arrivals string  `hcl:"arrivals"` // file of submissions: hours repeat after its last whole one
}

type arrivalsBlock struct {
	Kind   string      `hcl:"kind,label"` // constant, poisson, gaussian_gaps, gaussian_times
	Every  string      `hcl:"every,optional"`
	Sigma  string      `hcl:"sigma,optional"`
	Middle string      `hcl:"middle,optional"`
	ByLoad bool        `hcl:"by_load,optional"` // every follows from the load
	Burst  *burstBlock `hcl:"burst,block"`
}

type burstBlock struct {
	After int    `hcl:"after"`
	Jobs  int    `hcl:"jobs"`
	Every string `hcl:"every"`
}

type durationBlock struct {
	Kind   string  `hcl:"kind,label"` // fixed, loguniform, lognormal
	Value  string  `hcl:"value,optional"`
	Low    string  `hcl:"low,optional"`
	High   string  `hcl:"high,optional"`
	Median string  `hcl:"median,optional"`
	Sigma  float64 `hcl:"sigma,optional"`
	Most   string  `hcl:"most,optional"`
}

type traceBlock struct {
	Format   string         `hcl:"format,label"`
	Path     string         `hcl:"path"`
	Files    []string       `hcl:"files,optional"`
	Columns  string         `hcl:"columns,optional"` // of a table of one's own, format "csv": "submit=when,duration=took,…"
	From     string         `hcl:"from,optional"`
	To       string         `hcl:"to,optional"`
	Sample   float64        `hcl:"sample,optional"`
	Limit    int            `hcl:"limit,optional"`
	Cores    float64        `hcl:"cores,optional"`     // what 1 means
	MemoryMB float64        `hcl:"memory_mb,optional"` // what 1 means
	Tasks    *spreadBlock   `hcl:"tasks,block"`        // of jobs whose number of tasks is unknown
	TaskCPU  *spreadBlock   `hcl:"task_cores,block"`   // of tasks whose cores are unknown
	TaskMB   *spreadBlock   `hcl:"task_memory_mb,block"`
	Duration *durationBlock `hcl:"duration,block"` // of what has none
	// Classes gives every job an application drawn from them, so that it has
	// interference; without, durations are those of the trace.
	Classes      []string `hcl:"classes,optional"`
	Applications int      `hcl:"applications,optional"` // to draw from; 400
	Platforms    string   `hcl:"platforms,optional"`
}

// spreadBlock is a lognormal distribution; without sigma it is the median.
type spreadBlock struct {
	Median float64 `hcl:"median"`
	Sigma  float64 `hcl:"sigma,optional"`
	Most   float64 `hcl:"most,optional"`
}

type profilingBlock struct {
	Time       string   `hcl:"time,optional"`
	Training   int      `hcl:"training,optional"`
	Entries    int      `hcl:"entries,optional"`
	Classifier string   `hcl:"classifier,optional"`
	LabSlots   int      `hcl:"lab_slots,optional"`
	Recurring  bool     `hcl:"recurring,optional"` // an application is profiled once
	Sources    []string `hcl:"sources,optional"`   // of policies with knowledge = "hashed"
}

type worldBlock struct {
	RestartTime string `hcl:"restart_time,optional"`
	MoveTime    string `hcl:"move_time,optional"`
	Window      string `hcl:"window,optional"`
	SampleEvery string `hcl:"sample_every,optional"`
	Instant     bool   `hcl:"instant_decisions,optional"` // they take no time
	Decision    string `hcl:"decision_time,optional"`     // of each, whatever its policy's model says
	PerNode     string `hcl:"decision_time_per_node,optional"`
}

type policyBlock struct {
	Name             string            `hcl:"name,label"`
	Selector         string            `hcl:"selector,optional"`  // the policy's name
	Admission        string            `hcl:"admission,optional"` // fifo
	Knowledge        string            `hcl:"knowledge,optional"` // estimated, planned, hashed, oracle or none
	Adapter          string            `hcl:"adapter,optional"`   // none
	Detector         string            `hcl:"detector,optional"`  // of the adapter pp-rtte: kflr
	ExactMeter       bool              `hcl:"exact_meter,optional"`
	Sizing           string            `hcl:"sizing,optional"` // reservation or policy
	Agents           int               `hcl:"agents,optional"`
	Moves            bool              `hcl:"moves,optional"`
	StartBelow       float64           `hcl:"start_below,optional"`    // share of the cores asked for, below which a job starts before it is profiled where none has a target
	FreeProfile      bool              `hcl:"free_profile,optional"`   // a profile takes no time
	FreeMoves        bool              `hcl:"free_moves,optional"`     // nor does a move
	FreeDecisions    bool              `hcl:"free_decisions,optional"` // nor does a decision
	Entries          int               `hcl:"entries,optional"`        // these three instead of what the scenario's profiling says
	Classifier       string            `hcl:"classifier,optional"`
	Sources          []string          `hcl:"sources,optional"`
	Exact            []string          `hcl:"exact,optional"`    // parts of what is known that are the truth
	Ignored          []string          `hcl:"ignored,optional"`  // and parts that are not looked at
	Strategy         string            `hcl:"strategy,optional"` // which nodes it has, of a scenario with provision; SR
	Options          map[string]string `hcl:"options,optional"`
	AdmissionOptions map[string]string `hcl:"admission_options,optional"`
}
