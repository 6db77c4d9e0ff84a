package figures

const (
	whyOwnPressure = "On whole machines, owned or rented, jobs press on each other; on slices other customers press, who are drawn as our programs are. How much each decides is in the experiments hcloud-pressure and hcloud-outside, what sharing does and what is unknown of jobs in hcloud-causes. Where programs press more (`-world own`), all strategies lose by it, and whole machines more than slices. "
	whyTail        = "A tail latency is that of a queue with random arrivals (M/M/1) of a service that is busy for 70 % of the time in isolation, at most 100 times as long; the paper measured memcached. "
	whyCurve       = "The curves of needed cores are drawn through the few points that the text has. "
	whySizes       = "A job is one allocation; one that falls short gets more CPU where it is, up to twice what it needs in isolation, and is not moved. "
	whyCosts       = "46 % less than SR is published without the load and the horizon: per hour it needs a load of 411 cores, and in the absolute view it holds at 52, 36 or 26 weeks for loads of 411, 500 or 610. With these prices HF's published 34 machines cost 1.21 times what SR does per hour. Costs are therefore shown per hour and after 10, 26 and 52 weeks, with the load that was measured. "
	whyAll         = whyOwnPressure + whyCurve + whySizes
)

// hcloudExperiments are those of the chapter, in its order.
var hcloudExperiments = []Experiment{
	{
		ID: "hcloud-8.1", Paper: "hcloud", Where: "§8.1, figures 8.1 and 8.2", Title: "Unpredictability of instances",
		Missing: "it is an input: what other customers press on slices is drawn as the programs of the scenarios are. TestOthersPressOnSharedMachines of placer/sim/fleet bounds it.",
	},
	{
		ID: "hcloud-profiles", Paper: "hcloud", Where: "§8.3.4, §8.4.3, figures 8.4 and 8.10", Title: "With and without profile information",
		Scenarios: hcloudScenarios, Headline: of("SR").in(hcloudHigh),
		Rows: across(hcloudScenarios, "SR", "OdF", "OdM", "HF", "HM"),
		Quantities: []Quantity{
			withProfiles.from(everywhere(map[string]Number{"SR": about(2.4), "HF": about(2.4), "HM": about(2.77)})), withProfilesServices, withProfilesBatch, relative,
		},
		Requires: append(each(hcloudScenarios, func(s string) Requirement {
			return atLeast("SR is better with profile information: "+s, withProfiles, 1, of("SR").in(s))
		}),
			compared("services gain more than batch jobs under SR in each scenario", func(v []float64) bool { return v[0] > v[1] && v[2] > v[3] && v[4] > v[5] },
				use{withProfilesServices, of("SR").in(hcloudStatic)}, use{withProfilesBatch, of("SR").in(hcloudStatic)}, use{withProfilesServices, of("SR").in(hcloudLow)},
				use{withProfilesBatch, of("SR").in(hcloudLow)}, use{withProfilesServices, of("SR").in(hcloudHigh)}, use{withProfilesBatch, of("SR").in(hcloudHigh)}),
			compared("HF gains more than twofold on average", meanAbove(2), uses(withProfiles, across(hcloudScenarios, "HF")...)...),
			compared("HM gains more than twofold on average", meanAbove(2), uses(withProfiles, across(hcloudScenarios, "HM")...)...)),
		Why: whyAll + "Published are means over the scenarios. Why the gain is smaller is not found: it is neither the coin that P8 is without profiles (hcloud-causes has the same by use alone), nor how much programs press (with `-world own` it is no larger). ",
	},
	{
		ID: "hcloud-on-demand", Paper: "hcloud", Where: "§8.3.4, figure 8.4", Title: "Owned and rented nodes",
		Scenarios: hcloudScenarios, Headline: of("OdM").in(hcloudHigh),
		Rows: across(hcloudScenarios, "SR", "OdF", "OdM", "nomad-binpack", "autoscaler", "nomad-binpack-sized", "autoscaler-sized"),
		Quantities: []Quantity{
			worseThanSR.from(everywhere(map[string]Number{"OdM": about(2.2)})), relative, relativeBatch, relativeServices,
			tailOfSR.from(published{"OdM, hcloud-low": about(24), "OdM, hcloud-high": about(42)}), tailFactor,
		},
		Requires: append(each(hcloudScenarios, func(s string) Requirement {
			return falling("SR performs better than OdF, and that better than OdM: "+s, relative, in(s, "SR", "OdF", "OdM")...)
		}),
			atLeast("OdF is near SR in the static scenario", betterThan("OdF", "SR"), 0.9, of("OdF").in(hcloudStatic)),
			atLeast("memcached's tail is at least ten times as long under OdM as under SR", tailOfSR, 10, of("OdM").in(hcloudLow), of("OdM").in(hcloudHigh))),
		Why:   whyAll + whyTail,
		Plots: []Plot{sortedWithWait(in(hcloudHigh, "SR", "OdF", "OdM", "nomad-binpack-sized", "autoscaler-sized")...)},
	},
	{
		ID: "hcloud-hybrids", Paper: "hcloud", Where: "§8.4.3, figure 8.10", Title: "The hybrids",
		Scenarios: hcloudScenarios, Headline: of("HM").in(hcloudHigh),
		Rows: across(hcloudScenarios, "SR", "OdF", "OdM", "HF", "HM", "HM-oracle", "nomad-binpack", "autoscaler"),
		Quantities: []Quantity{
			lossToSR.from(everywhere(map[string]Number{"HF": below(8), "HM": below(8)})), betterThanOdM.from(everywhere(map[string]Number{"HF": about(2.1), "HM": about(2.1)})), betterThanOdF,
			relative, relativeBatch, relativeServices, metric("on owned nodes", "%", "relative_base"), metric("on rented nodes", "%", "relative_rented"),
		},
		Requires: append(each(hcloudScenarios, func(s string) Requirement {
			return atMost("HF and HM lose at most 8 % against SR: "+s, lossToSR, 8, in(s, "HF", "HM")...)
		}),
			compared("HF is twice as good as OdM on average", meanAbove(2), uses(betterThanOdM, across(hcloudScenarios, "HF")...)...),
			compared("HM is twice as good as OdM on average", meanAbove(2), uses(betterThanOdM, across(hcloudScenarios, "HM")...)...)),
		Why:   whyAll + whyTail,
		Plots: []Plot{sortedWithWait(in(hcloudHigh, "SR", "OdF", "OdM", "HF", "HM")...), sortedWithWait(in(hcloudStatic, "SR", "OdF", "OdM", "HF", "HM")...)},
	},
	{
		ID: "hcloud-cost", Paper: "hcloud", Where: "§8.3.4, §8.4.3, figures 8.5 and 8.11", Title: "Cost per hour",
		Scenarios: hcloudScenarios, Headline: of("HM").in(hcloudHigh),
		Rows: across(hcloudScenarios, "SR", "OdF", "OdM", "HF", "HM", "HM-oracle", "nomad-binpack", "autoscaler"),
		Quantities: []Quantity{
			hourOfSR.from(everywhere(map[string]Number{"SR": pictured, "OdF": pictured, "OdM": pictured, "HF": pictured, "HM": pictured})), loadCores, impliedHour,
			weeksOfSR("cost of 10 weeks, of SR", 10), weeksOfSR("cost of 26 weeks, of SR", 26), weeksOfSR("cost of 52 weeks, of SR", 52),
			rentedCores, metric("with a minute billed at least", "cores", "rented_cores_60s"), metric("with ten minutes", "cores", "rented_cores_600s"),
		},
		Requires: append(append(each(hcloudScenarios, func(s string) Requirement {
			return behind("of SR, OdF and OdM, SR costs least per hour: "+s, hourOfSR, 0, of("SR").in(s), in(s, "OdF", "OdM")...)
		}), each(hcloudScenarios, func(s string) Requirement {
			return behind("OdM costs less than OdF: "+s, hourOfSR, 0, of("OdM").in(s), of("OdF").in(s))
		})...),
			behind("SR costs least of all under the static load", hourOfSR, 0, of("SR").in(hcloudStatic), in(hcloudStatic, "OdF", "OdM", "HF", "HM")...),
			behind("a hybrid costs least under low variability", hourOfSR, 0, of("HM").in(hcloudLow), in(hcloudLow, "SR", "OdF", "OdM")...),
			behind("and under high variability", hourOfSR, 0, of("HM").in(hcloudHigh), in(hcloudHigh, "SR", "OdF", "OdM")...),
			behind("HM costs less than HF under low variability", hourOfSR, 0, of("HM").in(hcloudLow), of("HF").in(hcloudLow)),
			behind("and under high variability", hourOfSR, 0, of("HM").in(hcloudHigh), of("HF").in(hcloudHigh))),
		Why: whyCosts + whyCurve + "Jobs that are slowed down are there for longer: the load that is paid for exceeds what is needed. ",
	},
	{
		ID: "hcloud-duration", Paper: "hcloud", Where: "§8.5.1, figure 8.13", Title: "Cost by the weeks for which the load lasts",
		Scenarios: []string{hcloudStatic, hcloudHigh}, Headline: of("OdM").in(hcloudHigh),
		Rows: across([]string{hcloudStatic, hcloudHigh}, "OdM", "HM"),
		Quantities: []Quantity{
			untilHM.from(published{"OdM, hcloud-static": about(20), "OdM, hcloud-high": about(18)}), untilSR.from(published{"HM, hcloud-static": about(25)}), loadCores,
		},
		Requires: []Requirement{
			compared("static: OdM costs least for 18 to 22 weeks", inRange(18, 22), uses(untilHM, of("OdM").in(hcloudStatic))...),
			compared("static: then HM, until 23 to 27 weeks", inRange(23, 27), uses(untilSR, of("HM").in(hcloudStatic))...),
			compared("high variability: HM costs less than OdM from 16 to 20 weeks on", inRange(16, 20), uses(untilHM, of("OdM").in(hcloudHigh))...),
			atLeast("high variability: SR never costs less than HM", untilSR, neverWeeks, of("HM").in(hcloudHigh)),
		},
		Why: "With the year paid in advance, HM costs less than OdM from 52 / 2.74 = 19.0 weeks on in every scenario, if its owned nodes are fully used and both rent alike; SR costs less than OdM under the static load from 52 · 1.15 / 2.74 = 21.8 weeks on. " + whyCurve,
	},
	{
		ID: "hcloud-ratio", Paper: "hcloud", Where: "§8.5.1, figure 8.12", Title: "Cost by the ratio of prices",
		Scenarios: hcloudScenarios, Headline: of("HM").in(hcloudHigh),
		Rows:       across(hcloudScenarios, "OdF", "OdM", "HF", "HM"),
		Quantities: []Quantity{ratioSR.from(published{"HM, hcloud-high": about(3)}), ratioImplied, loadCores},
		Requires: []Requirement{
			falling("SR wins at a ratio that grows with variability", ratioSR, of("HM").in(hcloudHigh), of("HM").in(hcloudLow), of("HM").in(hcloudStatic)),
			compared("under high variability it is about 3", inRange(2.5, 3.5), uses(ratioSR, of("HM").in(hcloudHigh))...),
		},
		Why: "A ratio of 3 needs a load of 610 cores, and 46 % less per hour than SR one of 411: no load has both. " + whyCurve,
	},
	{
		ID: "hcloud-utilisation", Paper: "hcloud", Where: "§8.5.4, figure 8.18", Title: "Utilisation of owned nodes",
		Scenarios: hcloudScenarios, Headline: of("HM").in(hcloudHigh),
		Rows: across(hcloudScenarios, "SR", "HF", "HM", "nomad-binpack"),
		Quantities: []Quantity{
			baseUsed.from(everywhere(map[string]Number{"HF": about(80), "HM": about(80)})), metric("allocated", "%", "base_allocated"), metric("nodes nearly idle", "%", "base_nearly_idle").from(published{"SR, hcloud-high": pictured}),
		},
		Requires: append(each(hcloudScenarios, func(s string) Requirement {
			return compared("75 to 85 % of the hybrids' owned cores are busy: "+s, inRange(75, 85), uses(baseUsed, in(s, "HF", "HM")...)...)
		}), atLeast("most of SR's nodes are nearly idle under high variability", metric("nodes nearly idle", "%", "base_nearly_idle"), 50, of("SR").in(hcloudHigh))),
		Why:   whyCurve + "Busy is what programs use of the cores that they are given. Least-loaded and similar choices spread jobs over all nodes, so that none is idle. ",
		Plots: maps(of("SR").in(hcloudHigh), of("HM").in(hcloudHigh), of("HM").in(hcloudLow)),
	},
	{
		ID: "hcloud-low-allocation", Paper: "hcloud", Where: "§8.5.4, figure 8.19", Title: "Who is on owned nodes, low variability",
		Scenarios: []string{hcloudLow}, Headline: of("HM"), Rows: all("HM", "HF", "HM-oracle"),
		Quantities: []Quantity{
			metric("services on owned nodes in the surge", "%", "base_services_middle").from(published{"HM": pictured}), metric("before it", "%", "base_services_before"),
			metric("batch jobs in the surge", "%", "base_batch_middle").from(published{"HM": pictured}), metric("before it", "%", "base_batch_before"),
		},
		Requires: []Requirement{
			compared("in the surge services hold the owned nodes, and batch jobs move out", func(v []float64) bool { return v[0] > v[1] },
				use{metric("services on owned nodes in the surge", "%", "base_services_middle"), of("HM")}, use{metric("batch jobs in the surge", "%", "base_batch_middle"), of("HM")}),
			compared("fewer batch jobs are on owned nodes in the surge than before", func(v []float64) bool { return v[0] < v[1] },
				use{metric("batch jobs in the surge", "%", "base_batch_middle"), of("HM")}, use{metric("batch jobs before it", "%", "base_batch_before"), of("HM")}),
		},
		Why: whyCurve + "The surge is the second third of the submissions. ",
	},
	{
		ID: "hcloud-high-completion", Paper: "hcloud", Where: "§8.5.4, figure 8.17", Title: "Until all jobs have ended, high variability",
		Scenarios: []string{hcloudHigh}, Headline: of("HM"), Rows: all("SR", "OdF", "OdM", "HF", "HM", "HM-oracle", "nomad-binpack", "autoscaler"),
		Quantities: []Quantity{
			completion.from(published{"SR": about(120), "OdF": n(132), "OdM": about(178), "HF": about(123), "HM": about(123)}), metric("had not ended", "%", "unfinished"), metric("ideally", "s", "ideal_completion"),
		},
		Requires: []Requirement{
			compared("HF and HM take at most 5 % longer than SR", func(v []float64) bool { return max(v[1], v[2]) <= 1.05*v[0] }, uses(completion, all("SR", "HF", "HM")...)...),
			compared("OdM takes much longer than OdF, and that longer than the hybrids", func(v []float64) bool { return v[0] >= 1.2*v[1] && v[1] > max(v[2], v[3]) }, uses(completion, all("OdM", "OdF", "HF", "HM")...)...),
		},
		Why: whyAll,
	},
	{
		ID: "hcloud-high-instances", Paper: "hcloud", Where: "§8.5.4, figures 8.17 and 8.18", Title: "Rented nodes, high variability",
		Scenarios: []string{hcloudHigh}, Headline: of("HM"), Rows: all("OdF", "OdM", "HF", "HM", "HM-oracle", "autoscaler"),
		Quantities: []Quantity{
			metric("released right after use", "%", "released_at_once").from(published{"OdM": n(43), "HM": about(11)}),
			metric("nodes rented", "nodes", "rented_nodes").from(published{"HF": n(72)}), metric("there on average", "nodes", "rented_nodes_mean").from(published{"HF": n(34)}), rentedCores,
		},
		Requires: []Requirement{
			compared("HM releases at most a third as large a share right after use as OdM", func(v []float64) bool { return v[0] <= v[1]/3 }, uses(metric("released right after use", "%", "released_at_once"), all("HM", "OdM")...)...),
			compared("HF rents 72 nodes, within a half", inRange(48, 108), uses(metric("nodes rented", "nodes", "rented_nodes"), of("HF"))...),
			compared("34 of them are there on average, within a half", inRange(23, 51), uses(metric("there on average", "nodes", "rented_nodes_mean"), of("HF"))...),
		},
		Why: whyAll,
	},
	{
		ID: "hcloud-high-pricing", Paper: "hcloud", Where: "§8.5.3, figure 8.16", Title: "Other providers' prices, high variability",
		Scenarios: []string{hcloudHigh}, Headline: of("HM"), Rows: all("OdF", "OdM", "HF", "HM"),
		Quantities: []Quantity{azureOfOdF.from(published{"HM": n(68)}), googleOfOdF.from(published{"HM": n(70)})},
		Requires: []Requirement{
			atMost("HM costs at least 25 % less than OdF where all is rented", azureOfOdF, 75, of("HM")),
			atMost("and with discounts on sustained use", googleOfOdF, 75, of("HM")),
		},
		Why: "The two hours of the scenario are taken to go on for a month; owned nodes are there all of it. The steps of the discount are Google's of 2014, which the text does not give. " + whyCurve,
	},
	{
		ID: "hcloud-high-profile-cost", Paper: "hcloud", Where: "§8.5.7, figure 8.21", Title: "Cost without profile information, high variability",
		Scenarios: []string{hcloudHigh}, Headline: of("HM-user"), Rows: all("SR", "SR-user", "OdF", "OdF-user", "OdM", "OdM-user", "HF", "HF-user", "HM", "HM-user"),
		Quantities: []Quantity{hourOfSR.from(published{"OdF-user": pictured, "OdM-user": pictured, "HF-user": pictured, "HM-user": pictured}), completion, relative},
		Requires: []Requirement{
			compared("all that rent cost more per hour without", func(v []float64) bool { return v[0] > v[1] && v[2] > v[3] && v[4] > v[5] && v[6] > v[7] },
				uses(hourOfSR, all("OdF-user", "OdF", "OdM-user", "OdM", "HF-user", "HF", "HM-user", "HM")...)...),
			atMost("hybrids cost less than SR without, too", hourOfSR, 100, all("HF-user", "HM-user")...),
			allAhead("and less than those who own nothing", hourOfSR, all("OdF-user", "OdM-user"), all("HF-user", "HM-user")),
			cannot("SR costs more without", "the nodes of SR are those of the scenario's peak, whoever sizes its jobs: what they ask for too much waits"),
		},
		Why: "Users ask for up to ten times too much, so that jobs wait for owned nodes and the scenario takes longer: an hour then costs less than it would. " + whyCurve,
	},
	{
		ID: "hcloud-mapping", Paper: "hcloud", Where: "§8.4.2, figures 8.6 and 8.7", Title: "Who gets the owned nodes, high variability",
		Scenarios: []string{"hcloud-mapping"}, Headline: of("HM"),
		Quantities: []Quantity{
			relative.from(published{"HM": pictured, "HM-P1": pictured, "HM-P2": pictured, "HM-P5": pictured}), mappedBase, mappedRented, metric("jobs on owned nodes", "%", "base_share").from(published{"HM-P1": about(50)}),
			metric("jobs that waited for them", "%", "queued_share"), metric("cost per hour", "cores", "cost_per_hour"), baseUsed,
		},
		Requires: []Requirement{
			compared("P1 sends about half of the jobs to owned nodes", inRange(40, 60), uses(metric("jobs on owned nodes", "%", "base_share"), of("HM-P1"))...),
			neverFalling("from P2 to P4 jobs on rented nodes do better", mappedRented, 1, all("HM-P2", "HM-P3", "HM-P4")...),
			neverFalling("and those on owned ones worse", mappedBase, 1, all("HM-P4", "HM-P3", "HM-P2")...),
			compared("with P5 and P6 jobs on owned nodes do better than with P7", func(v []float64) bool { return min(v[0], v[1]) > v[2] }, uses(mappedBase, all("HM-P5", "HM-P6", "HM-P7")...)...),
			compared("P8 is not dominated in both performances and cost", notDominated, mappings()...),
		},
		Why: whyAll,
	},
	{
		ID: "hcloud-mapping-queue", Paper: "hcloud", Where: "§8.4.2, figure 8.9", Title: "Estimated waits for owned nodes",
		Scenarios: []string{"hcloud-mapping"}, Headline: of("HM"), Rows: all("HM", "HM-P1", "HM-P4"),
		Quantities: []Quantity{
			metric("waits within the estimate", "%", "estimate_coverage").from(published{"HM": pictured}), metric("median distance of the estimate", "s", "estimate_error"), metric("estimates", "jobs", "estimates"),
			metric("distance, 4 cores", "s", "estimate_error:standard-4"), metric("distance, 8 cores", "s", "estimate_error:standard-8"), metric("distance, 16 cores", "s", "estimate_error:standard-16"),
		},
		Requires: []Requirement{
			atLeast("97 % of the waits are within the estimate for 99 %", metric("waits within the estimate", "%", "estimate_coverage"), 97, of("HM")),
			atMost("the estimate is off by at most ten seconds at the median", metric("median distance of the estimate", "s", "estimate_error"), 10, of("HM")),
		},
		Why: "The text has no numbers: the deviation is minimal. Few jobs wait under P8, and those that do early in a run are estimated from few others. " + whyCurve,
	},
	{
		ID: "hcloud-spin-up", Paper: "hcloud", Where: "§8.5.1, figure 8.14", Title: "By the time that nodes take to start",
		Scenarios: []string{"hcloud-spin-up"}, Headline: of("HM").load(120),
		Quantities: []Quantity{relativeWorst.from(published{"SR at 120": pictured, "OdF at 120": pictured, "OdM at 120": pictured, "HF at 120": pictured, "HM at 120": pictured}), relative, metric("cost per hour", "cores", "cost_per_hour")},
		Requires: []Requirement{
			alike("SR is flat, within a point", relativeWorst, 1, loaded(spinUps, "SR")...),
			compared("OdF and OdM fall most, OdM most of all", func(v []float64) bool { return v[0]-v[1] > v[2]-v[3] && v[2]-v[3] > max(v[4]-v[5], v[6]-v[7]) },
				uses(relativeWorst, of("OdM"), of("OdM").load(120), of("OdF"), of("OdF").load(120), of("HF"), of("HF").load(120), of("HM"), of("HM").load(120))...),
		},
		Why:   whyAll,
		Plots: []Plot{overValues("What 95 % of the jobs reach, by mean spin-up", relativeWorst, spinUps, 1, "mean spin-up", "s")},
	},
	{
		ID: "hcloud-outside", Paper: "hcloud", Where: "§8.5.1, figure 8.14", Title: "By the load of other customers",
		Scenarios: []string{"hcloud-outside"}, Headline: of("HM").load(0.5),
		Quantities: []Quantity{relative.from(published{"SR at 0.5": pictured, "OdF at 0.5": pictured, "OdM at 0.5": pictured, "HF at 0.5": pictured, "HM at 0.5": pictured}), relativeWorst, metric("jobs on owned nodes", "%", "base_share")},
		Requires: []Requirement{
			alike("SR is flat, within two points", relative, 2, loaded(outsides, "SR")...),
			alike("so is OdF", relative, 2, loaded(outsides, "OdF")...),
			alike("so is HF", relative, 2, loaded(outsides, "HF")...),
			alike("HM is flat up to a load of a half, within five points", relative, 5, of("HM"), of("HM").load(0.25), of("HM").load(0.5)),
			falling("OdM falls throughout", relative, loaded(outsides, "OdM")...),
		},
		Why:   whyAll,
		Plots: []Plot{overValues("Performance by the load of other customers", relative, outsides, 100, "load of others", "%")},
	},
	{
		ID: "hcloud-retention", Paper: "hcloud", Where: "§8.5.1, figure 8.15", Title: "By how long idle nodes are kept, high variability",
		Scenarios: []string{"hcloud-retention"}, Headline: of("HM"),
		Quantities: []Quantity{
			relative.from(published{"HM": pictured, "HF": pictured, "OdF": pictured, "OdM": pictured}), metric("cost per hour", "cores", "cost_per_hour").from(published{"HM": pictured, "HF": pictured, "OdF": pictured, "OdM": pictured}),
			metric("nodes rented", "nodes", "rented_nodes"),
		},
		Requires: []Requirement{
			compared("giving nodes back at once costs all of them performance", func(v []float64) bool { return v[0] < v[1] && v[2] < v[3] && v[4] < v[5] && v[6] < v[7] },
				uses(relative, all("OdF-keeps-0", "OdF", "OdM-keeps-0", "OdM", "HF-keeps-0", "HF", "HM-keeps-0", "HM")...)...),
			compared("keeping them ten times as long makes OdF and OdM a tenth dearer at least", func(v []float64) bool { return v[1] >= 1.1*v[0] && v[3] >= 1.1*v[2] },
				uses(metric("cost per hour", "cores", "cost_per_hour"), all("OdF", "OdF-keeps-100", "OdM", "OdM-keeps-100")...)...),
			compared("and HF and HM by less than those", func(v []float64) bool { return max(v[5]/v[4], v[7]/v[6]) < min(v[1]/v[0], v[3]/v[2]) },
				uses(metric("cost per hour", "cores", "cost_per_hour"), all("OdF", "OdF-keeps-100", "OdM", "OdM-keeps-100", "HF", "HF-keeps-100", "HM", "HM-keeps-100")...)...),
			compared("keeping them very long costs OdM and HM a little performance", func(v []float64) bool { return v[0] > v[1] && v[2] > v[3] },
				uses(relative, all("OdM", "OdM-keeps-100", "HM", "HM-keeps-100")...)...),
		},
		Why: whyAll,
	},
	pressed("hcloud-pressure-static", "By what jobs press on each other, static load"),
	pressed("hcloud-pressure-low", "By what jobs press on each other, low variability"),
	pressed("hcloud-pressure", "By what jobs press on each other, high variability"),
	{
		ID: "hcloud-sensitive", Paper: "hcloud", Where: "§8.5.6, figure 8.20", Title: "By the share of jobs that are sensitive",
		Scenarios: []string{"hcloud-sensitive"}, Headline: of("HM").load(0.8),
		Quantities: []Quantity{relative.from(published{"HM at 0.8": pictured, "HF at 0.8": pictured, "OdF at 0.8": pictured, "OdM at 0.8": pictured, "SR at 0.8": pictured}), metric("cost per hour", "cores", "cost_per_hour"), metric("jobs that waited for owned nodes", "%", "queued_share")},
		Requires: []Requirement{
			alike("SR is flat, within five points", relative, 5, loaded(sensitives, "SR")...),
			alike("the hybrids are good up to 80 %: HF within five points", relative, 5, of("HF"), of("HF").load(0.2), of("HF").load(0.4), of("HF").load(0.6), of("HF").load(0.8)),
			alike("HM within five points", relative, 5, of("HM"), of("HM").load(0.2), of("HM").load(0.4), of("HM").load(0.6), of("HM").load(0.8)),
			compared("their cost rises past 30 %", func(v []float64) bool { return v[2] > v[1] && v[5] > v[4] && v[1] <= 1.05*v[0] && v[4] <= 1.05*v[3] },
				uses(metric("cost per hour", "cores", "cost_per_hour"), of("HF"), of("HF").load(0.2), of("HF").load(0.8), of("HM"), of("HM").load(0.2), of("HM").load(0.8))...),
			falling("OdM degrades throughout", relative, loaded(sensitives, "OdM")...),
			falling("so does OdF", relative, loaded(sensitives, "OdF")...),
		},
		Why:   whyAll,
		Plots: []Plot{overValues("Performance by the share of sensitive jobs", relative, sensitives, 100, "sensitive jobs", "%")},
	},
	{
		ID: "hcloud-limits", Paper: "hcloud", Where: "§8.4.2", Title: "The hard limit, and how qualities are read",
		Scenarios: []string{"hcloud-limits"}, Headline: of("HM"),
		Quantities: []Quantity{relative, metric("jobs on owned nodes", "%", "base_share"), metric("cost per hour", "cores", "cost_per_hour"), baseUsed, metric("jobs that waited for owned nodes", "%", "queued_share")},
		Requires: []Requirement{
			alike("the hard limit, which the text does not have, decides little: five points", relative, 5, all("HM-hard-75", "HM-hard-80", "HM", "HM-hard-90", "HM-hard-95")...),
			compared("compared resource by resource, at least as many jobs are sent to rented nodes", func(v []float64) bool { return v[0] <= v[1]+1 }, uses(metric("jobs on owned nodes", "%", "base_share"), all("HM-vector", "HM")...)...),
		},
		Why: "Nothing is published: the hard limit is ours. " + whyCurve,
	},
	{
		ID: "hcloud-causes", Paper: "hcloud", Where: "§8.3.3, §8.4.2", Title: "What decides, high variability",
		Scenarios: []string{"hcloud-causes"}, Headline: of("SR"),
		Quantities: []Quantity{
			relative, relativeBatch, relativeServices, metric("mean wait", "s", "wait_mean"), metric("cost per hour", "cores", "cost_per_hour"),
			metric("nodes there on average", "nodes", "rented_nodes_mean"), metric("jobs that waited for owned nodes", "%", "queued_share"),
		},
		Requires: []Requirement{
			compared("it is not what is unknown of jobs that SR loses by: all known gains five points at most", func(v []float64) bool { return v[1] <= v[0]+5 }, uses(relative, all("SR", "SR-oracle")...)...),
			compared("where machines are shared only by who tolerates it, HF and HM are better than SR", func(v []float64) bool { return min(v[1], v[2]) > v[0] }, uses(relative, all("SR", "HF-tolerated", "HM-tolerated")...)...),
			compared("without profiles the coin makes jobs wait: less than a tenth as long by use alone", func(v []float64) bool { return v[1] < v[0]/10 && v[3] < v[2]/10 },
				uses(metric("mean wait", "s", "wait_mean"), all("HF-user", "HF-user-P7", "HM-user", "HM-user-P7")...)...),
		},
		Why: "Nothing is published: each row takes one thing away. What is required was written after a seed of another world (`-world own`) had shown it. ",
	},
	{
		ID: "hcloud-decisions", Paper: "hcloud", Where: "§8.5.2", Title: "Overheads",
		Missing: "a decision takes the 20 ms that the text has for it, and a profile 7.5 s: these are inputs. What the Go code takes BenchmarkHCloud of placer/sim/admission measures. No job is rescheduled in the simulated world, for which the text has 6.1 % of OdM's execution time.",
	},
}

// pressed is a scenario in which jobs press less on each other than they are drawn to.
func pressed(scenario, title string) Experiment {
	return Experiment{
		ID: scenario, Paper: "hcloud", Where: "§8.3.2, §8.3.4", Title: title,
		Scenarios: []string{scenario}, Headline: of("SR").load(1),
		Quantities: []Quantity{relative, relativeBatch, relativeServices, completion, metric("cost per hour", "cores", "cost_per_hour")},
		Requires: []Requirement{
			falling("where jobs hardly press on each other, SR performs better than OdF, and that better than OdM", relative, of("SR").load(0.01), of("OdF").load(0.01), of("OdM").load(0.01)),
		},
		Why:   "Nothing is published: it shows which part of the world decides between whole machines, on which jobs press on each other, and slices, on which other customers do. ",
		Plots: []Plot{overValues("Performance by what jobs press on each other", relative, pressures, 100, "pressure of a job, of what it is drawn with", "%")},
	}
}
