package figures

var paragonEC2Decisions = Experiment{
	ID: "paragon-e13", Paper: "paragon", Where: "§3.5.2, figure 3.11", Title: "1,000 servers: quality of decisions at three loads",
	Scenarios: []string{"paragon-ec2-low", "paragon-ec2-high", "paragon-ec2-oversubscribed"}, Headline: of("paragon").in("paragon-ec2-high"),
	Rows: across([]string{"paragon-ec2-low", "paragon-ec2-high", "paragon-ec2-oversubscribed"}, "paragon", "nh", "ni", "least-loaded", "paragon-oracle", "nomad-binpack", "nomad-spread"),
	Quantities: []Quantity{
		bestPlatform.from(published{"paragon, paragon-ec2-low": about(65), "paragon, paragon-ec2-high": about(65), "paragon, paragon-ec2-oversubscribed": about(65)}),
		metric("configuration cost at most 10 %", "%", "platform_lost_10"),
		metric("at most 20 %", "%", "platform_lost_20"),
		undisturbed.from(published{"paragon, paragon-ec2-low": about(75), "paragon, paragon-ec2-high": about(75), "paragon, paragon-ec2-oversubscribed": about(75)}),
		metric("at most 10 %", "%", "interference_lost_10"),
		metric("at most 20 %", "%", "interference_lost_20").from(published{
			"paragon, paragon-ec2-low": above(92), "paragon, paragon-ec2-high": above(92), "paragon, paragon-ec2-oversubscribed": above(92),
		}),
	},
	Requires: []Requirement{
		atLeast("with Paragon at most 8 % lose more than 20 % to neighbours", metric("lost at most 20 % to neighbours", "%", "interference_lost_20"), 92,
			across([]string{"paragon-ec2-low", "paragon-ec2-high", "paragon-ec2-oversubscribed"}, "paragon")...),
		compared("Paragon chooses a best configuration for 65 % on average", func(v []float64) bool { return (v[0]+v[1]+v[2])/3 >= 65 },
			uses(bestPlatform, across([]string{"paragon-ec2-low", "paragon-ec2-high", "paragon-ec2-oversubscribed"}, "paragon")...)...),
		compared("and keeps 75 % from harm on average", func(v []float64) bool { return (v[0]+v[1]+v[2])/3 >= 75 },
			uses(undisturbed, across([]string{"paragon-ec2-low", "paragon-ec2-high", "paragon-ec2-oversubscribed"}, "paragon")...)...),
		falling("least-loaded harms more at each higher load", undisturbed, across([]string{"paragon-ec2-low", "paragon-ec2-high", "paragon-ec2-oversubscribed"}, "least-loaded")...),
	},
	Why: "The published shares are averages over the three loads. " + whyPrograms + whyPlatforms,
	Plots: []Plot{
		keptOfPlatforms(across([]string{"paragon-ec2-high"}, "paragon", "nh", "ni", "least-loaded")...),
		keptOfNeighbours(across([]string{"paragon-ec2-high"}, "paragon", "nh", "ni", "least-loaded")...),
	},
}
