package figures

import "fmt"

const (
	whyStorageTrace = "The ten production traces of the text are not public: its numbers are context. Ours is the block I/O of one virtual machine of CloudPhysics, 75,914 I/Os in 94 minutes, with times in whole seconds. "
	whyStorageDisk  = "IOPS and latencies are those of a stated reference disk of 7200 turns with one queue: no device takes part, so that the page is the same everywhere. What a real disk does with a twin is played by fio (`nomad-placer twin play`). "
	whyStorageHalf  = "The text fits and judges by the same trace. Here the second half of the I/Os judges what was fitted to the first: what an exact replay of the first half misses, too, is the trace's own change. "
	whyStorageReuse = "Inside a range addresses are drawn anew, and no range remembers: what is read again, and after how long, is in a model only as far as its ranges are small. "
	whyStorageBurst = "Gaps are drawn one by one: bursts that are shorter than the model's intervals are not in it, and intervals of 10 seconds keep those that are longer. "
)

// storageSettings are how models are fitted and judged.
var storageSettings = []storageSetting{
	{"whole", 1, 0},
	{"whole, intervals of 10 s", 1, storageShort},
	{"second half", 0.5, 0},
	{"second half, intervals of 10 s", 0.5, storageShort},
}

// Names of streams of package compare that requirements speak of.
const (
	storageWalk   = "walk"
	storageReplay = "replay"
	storageAny    = "no-locality"
)

// storageBaselines are the streams of package compare; the flat diagram has rows of its own, for at
// the depth that is chosen there is none.
var storageBaselines = []string{storageWalk, "jobs", storageReplay, "level-0", "one-rate", "fixed-depth", storageAny}

// storageRow is the row of a stream in a setting.
func storageRow(setting int, stream string) At {
	return of(storageSettings[setting].name + ": " + stream)
}

// storageRows are rows of all streams in some settings.
func storageRows(settings ...int) []At {
	var out []At
	for _, s := range settings {
		for _, stream := range storageBaselines {
			out = append(out, storageRow(s, stream))
		}
	}
	return out
}

// messenger is the row of Table A.4.
const messenger = "Messenger (Table A.4)"

// The quantities: by how much a stream differs from what judges it.
var (
	storageReads    = metric("reads", "%", "reads").from(published{messenger: n(0)})
	storageRandom   = metric("random", "%", "random").from(published{messenger: n(1.4)})
	storageSize     = metric("mean size", "%", "size")
	storageSizes    = metric("mix of sizes", "%", "sizes")
	storageRanges   = metric("64 ranges", "%", "ranges")
	storageGap      = metric("mean gap", "%", "gap").from(published{messenger: n(3.2)})
	storageIOPS     = metric("IOPS", "%", "iops").from(published{messenger: n(3.1)})
	storageLatency  = metric("mean latency", "%", "latency").from(published{messenger: n(4.8), thePaper: n(3.38)})
	storageWeight   = metric("largest difference of a weight at 1,000,000 I/Os", "ppm", "weight")
	storageFeatures = []Quantity{storageRanges, storageReads, storageRandom, storageSize, storageSizes, storageGap}
)

// storageMisses are the quantities of the six caches, by how many such caches hold all that is
// touched.
func storageMisses() []Quantity {
	var out []Quantity
	for _, part := range storageCaches {
		name := fmt.Sprintf("cache of 1/%d", part)
		if part == 1 {
			name = "cache of all"
		}
		out = append(out, metric(name, "points", storageCache(part)))
	}
	return out
}

func eachAtMost(text string, bound float64, row At, quantities ...Quantity) Requirement {
	var all []use
	for _, q := range quantities {
		all = append(all, use{q, row})
	}
	return compared(text, func(v []float64) bool { return most(v) <= bound }, all...)
}

// nearReplay: no quantity of the walk misses by more than an exact replay and some.
func nearReplay(text string, by float64, setting int, quantities ...Quantity) Requirement {
	var all []use
	for _, q := range quantities {
		all = append(all, use{q, storageRow(setting, storageWalk)}, use{q, storageRow(setting, storageReplay)})
	}
	return compared(text, func(v []float64) bool {
		for i := 0; i < len(v); i += 2 {
			if v[i] > v[i+1]+by {
				return false
			}
		}
		return true
	}, all...)
}

// storageExperiments are those of appendix A, in its order.
var storageExperiments = []Experiment{
	{
		ID: "storage-levels", Paper: "storage", Where: "table A.1 and figure A.5", Title: "How many levels",
		Compute: storageTwins, Headline: of("2 % rule"), Rows: append(all("2 % rule", "chosen"), storageLevelRows()...),
		Quantities: []Quantity{
			metric("depth", "levels", "levels").from(published{thePaper: between(1, 3), "2 % rule": between(1, 3)}), metric("ranges", "states", "states"),
			metric("pairs", "hierarchical", "pairs").from(published{"level 1": n(16), "level 2": n(76), "level 3": n(316), "level 4": n(1276), "level 5": n(5116)}),
			metric("pairs", "flat", "flat_pairs").from(published{"level 1": n(16), "level 2": n(256), "level 3": n(4096), "level 4": n(65536), "level 5": n(1048576)}),
			metric("transitions", "in the model", "transitions"), metric("IOPS, change to the next level", "%", "change"), metric("misses apart", "points", "apart"),
		},
		Requires: []Requirement{
			atMost("three levels suffice by IOPS: the next one changes them by less than 2 %", metric("depth", "levels", "levels"), 3, of("2 % rule")),
			atMost("three levels are within 5 points of the trace's miss ratios", metric("misses apart", "points", "apart"), 5, of("level 3")),
		},
		Why: whyStorageTrace + whyStorageDisk + "Where IOPS do not change, the level is chosen whose miss ratios are nearest to the trace's. " + whyStorageReuse,
	},
	{
		ID: "storage-features", Paper: "storage", Where: "table A.4", Title: "Features of the I/Os",
		Compute: storageTwins, Headline: storageRow(0, storageWalk), Rows: append([]At{of(messenger)}, storageRows(0)...),
		Quantities: storageFeatures,
		Requires: []Requirement{
			eachAtMost("the walk is within 5 % in every feature, and in the histogram of 64 ranges", 5, storageRow(0, storageWalk), storageFeatures...),
			eachAtMost("the form of a job file is within 5 % in every feature, and in the histogram", 5, storageRow(0, "jobs"), storageFeatures...),
			multiple("without locality the histogram of ranges is several times further off", storageRanges, 3, storageRow(0, storageAny), storageRow(0, storageWalk)),
		},
		Why:   whyStorageTrace,
		Plots: []Plot{computedPicture(storageDiagramPicture), computedPicture(storageStatesPicture(0))},
	},
	{
		ID: "storage-held-out", Paper: "storage", Where: "table A.4", Title: "Features of the half that was not fitted",
		Compute: storageTwins, Headline: storageRow(2, storageWalk), Rows: storageRows(2),
		Quantities: storageFeatures,
		Requires: []Requirement{
			eachAtMost("the walk is within 5 % in every feature, and in the histogram of 64 ranges", 5, storageRow(2, storageWalk), storageFeatures...),
			nearReplay("an exact replay of the fitted half misses by as much, within 5 points", 5, 2, storageFeatures...),
		},
		Why:   whyStorageTrace + whyStorageHalf,
		Plots: []Plot{computedPicture(storageStatesPicture(2))},
	},
	{
		ID: "storage-weights", Paper: "storage", Where: "§A.3.4 and §A.4.4", Title: "Weights of transitions, and one run against another",
		Compute: storageTwins, Headline: of("whole: run to run"), Rows: storageRunRows(),
		Quantities: []Quantity{
			storageWeight.from(published{thePaper: below(500)}),
			metric("IOPS, largest over least of 5 runs", "%", "iops_spread").from(published{thePaper: below(1)}),
			metric("mean latency, largest over least", "%", "latency_spread"), metric("model", "KiB", "model"),
		},
		Requires: []Requirement{
			atMost("weights are within 0.05 % of all I/Os, 500 ppm", storageWeight, 500, storageRunRows()...),
			atMost("IOPS of five runs are within 1 %", metric("IOPS, largest over least of 5 runs", "%", "iops_spread"), 1, storageRunRows()...),
		},
		Why: whyStorageTrace + whyStorageDisk + "Runs differ by the seed of the walk. ",
	},
	{
		ID: "storage-latency", Paper: "storage", Where: "§A.4.4", Title: "Throughput and latency",
		Compute: storageTwins, Headline: storageRow(1, storageWalk), Rows: append([]At{of(messenger)}, storageRows(0, 1, 2, 3)...),
		Quantities: []Quantity{
			storageLatency, storageIOPS, metric("mean latency", "ms", "mean_ms"), metric("median", "ms", "p50_ms"), metric("95 %", "ms", "p95_ms"), metric("99 %", "ms", "p99_ms"),
		},
		Requires: []Requirement{
			atMost("IOPS of a disk that is never idle are within 5 %", storageIOPS, 5, storageRow(0, storageWalk), storageRow(1, storageWalk)),
			atMost("the mean latency is within 6.7 %, the largest difference of the text", storageLatency, 6.7, storageRow(0, storageWalk)),
			atMost("with intervals of 10 s the mean latency is within 6.7 %", storageLatency, 6.7, storageRow(1, storageWalk)),
			atMost("the mean latency of the half that was not fitted is within 6.7 %", storageLatency, 6.7, storageRow(2, storageWalk)),
		},
		Why: whyStorageTrace + whyStorageDisk + whyStorageBurst + whyStorageHalf + "A generator that issues at the recorded rate has the recorded throughput by itself: IOPS here are those of the order of addresses, when the next I/O is always there. ",
	},
	{
		ID: "storage-flat", Paper: "storage", Where: "§A.3.2", Title: "Hierarchical against flat",
		Compute: storageTwins, Headline: storageFlatRow(1, 3), Rows: storageFlatRows(),
		Quantities: []Quantity{storageIOPS.from(published{thePaper: below(5)}), storageLatency.from(nil), metric("hits of caches", "points", "hits"), storageRanges},
		Requires: []Requirement{
			atMost("IOPS of the two forms are within 5 %", storageIOPS, 5, storageFlatRows()...),
			atMost("the mean latency of the two forms is within 5 %", storageLatency, 5, storageFlatRows()...),
			atMost("the hits of caches of the two forms are within 5 points", metric("hits of caches", "points", "hits"), 5, storageFlatRows()...),
		},
		Why: whyStorageTrace + whyStorageDisk + whyStorageBurst,
	},
	{
		ID: "storage-caches", Paper: "storage", Where: "§A.5.1", Title: "Miss ratios of caches, original against synthetic",
		Compute: storageTwins, Headline: storageRow(0, storageWalk), Rows: storageRows(0, 2),
		Quantities: storageMisses(),
		Requires: []Requirement{
			eachAtMost("the walk is within 5 points of the trace at six sizes", 5, storageRow(0, storageWalk), storageMisses()...),
			eachAtMost("the walk is within 5 points of the half that was not fitted", 5, storageRow(2, storageWalk), storageMisses()...),
			nearReplay("an exact replay of the fitted half misses by as much, within 5 points", 5, 2, storageMisses()...),
			multiple("without locality the largest cache is several times further off", storageMisses()[len(storageCaches)-1], 3, storageRow(0, storageAny), storageRow(0, storageWalk)),
		},
		Why:   whyStorageTrace + whyStorageHalf + whyStorageReuse + "Sizes of caches are parts of what the trace touches: the text's 1 to 32 GB belong to its disks. ",
		Plots: []Plot{computedPicture(storageMissPicture(0)), computedPicture(storageMissPicture(2))},
	},
	{
		ID: "storage-day", Paper: "storage", Where: "figure A.6", Title: "Load over days, and what stays the same",
		Compute: storageStatistics, Headline: of("rates of a walk: mean deviation"), Rows: all("rates of a walk: mean deviation", "rates of a walk: correlation", "reads", "not sequential", "mean size", "mean gap"),
		Quantities: []Quantity{
			metric("median difference", "%", "median").from(published{thePaper: n(3.8), "rates of a walk: mean deviation": n(3.8)}),
			metric("volumes within the limit", "%", "within"), metric("judged", "volumes", "volumes"),
		},
		Requires: []Requirement{
			atLeast("the load of 30 minutes follows the original, with a correlation of 0.95, in all volumes", metric("volumes within the limit", "%", "within"), 100, of("rates of a walk: correlation")),
			atLeast("the load of 30 minutes is within 5 % in all volumes", metric("volumes within the limit", "%", "within"), 100, of("rates of a walk: mean deviation")),
			atLeast("reads and sizes of the first half of the time are those of the second within 5 %, in nine of ten volumes", metric("volumes within the limit", "%", "within"), 90, of("reads"), of("mean size")),
		},
		Why: "CloudPhysics published statistics of 30 minutes of 106 volumes, of which we have two thirds; without addresses a model of them has no states. The text says that only intensity changes over a day (§A.3.3): of these volumes that is so of the sequential part, and of mix and sizes in less than half. ",
	},
	{
		ID: "storage-tool", Paper: "storage", Where: "table A.6", Title: "The generator against another one",
		Missing: "it needs a device: the reference player is fio itself, and `nomad-placer twin play` says what it did.",
	},
	{
		ID: "storage-ssd", Paper: "storage", Where: "§A.5.1", Title: "Caches on flash",
		Missing: "it orders ten applications by how concentrated their I/Os are, and one public trace with addresses is here. What it needs of a model, the miss ratio, is judged in storage-caches.",
	},
	{
		ID: "storage-defragmentation", Paper: "storage", Where: "table A.8", Title: "Defragmentation",
		Missing: "it needs the same application before and after its file system was defragmented.",
	},
}

func storageLevelRows() []At {
	var out []At
	for level := 1; level <= storageDeepest; level++ {
		out = append(out, of(storageLevel(level)))
	}
	return out
}

// storageRunRows have what is of a setting and not of a stream.
func storageRunRows() []At {
	var out []At
	for i := range storageSettings {
		out = append(out, storageRow(i, storageRuns))
	}
	return out
}

func storageFlatRow(setting, levels int) At { return storageRow(setting, storageFlat(levels)) }

func storageFlatRows() []At {
	return []At{storageFlatRow(0, 2), storageFlatRow(0, 3), storageFlatRow(1, 2), storageFlatRow(1, 3)}
}
