package figures

var paragonEC2Tracking = Experiment{
	ID: "paragon-e14", Paper: "paragon", Where: "§3.5.2, figure 3.12", Title: "1,000 servers: required and allocated cores at three loads",
	Scenarios: []string{"paragon-ec2-low", "paragon-ec2-high", "paragon-ec2-oversubscribed"}, Headline: of("paragon").in("paragon-ec2-high"),
	Rows: across([]string{"paragon-ec2-low", "paragon-ec2-high", "paragon-ec2-oversubscribed"}, "paragon", "nh", "ni", "least-loaded", "paragon-oracle", "nomad-binpack", "nomad-spread"),
	Quantities: []Quantity{
		coreDeviation.from(published{
			"paragon, paragon-ec2-low": pictured, "paragon, paragon-ec2-high": pictured, "paragon, paragon-ec2-oversubscribed": pictured,
		}),
		allocated,
	},
	Requires: []Requirement{
		alike("Paragon's deviation is the same at all loads, within 5 points", coreDeviation, 5, across([]string{"paragon-ec2-low", "paragon-ec2-high", "paragon-ec2-oversubscribed"}, "paragon")...),
		behind("at low load it is the smallest", coreDeviation, 0, of("paragon").in("paragon-ec2-low"), of("ni").in("paragon-ec2-low"), of("least-loaded").in("paragon-ec2-low")),
		behind("at high load", coreDeviation, 0, of("paragon").in("paragon-ec2-high"), of("ni").in("paragon-ec2-high"), of("least-loaded").in("paragon-ec2-high")),
		behind("and oversubscribed", coreDeviation, 0, of("paragon").in("paragon-ec2-oversubscribed"), of("ni").in("paragon-ec2-oversubscribed"),
			of("least-loaded").in("paragon-ec2-oversubscribed")),
	},
	Why: "Moments that require more cores than there are do not count, as in the text. " + whyPrograms + whyDurations,
	Plots: []Plot{
		usageOf(of("paragon").in("paragon-ec2-low")), usageOf(of("least-loaded").in("paragon-ec2-low")),
		usageOf(of("paragon").in("paragon-ec2-high")), usageOf(of("least-loaded").in("paragon-ec2-high")),
		usageOf(of("paragon").in("paragon-ec2-oversubscribed")), usageOf(of("least-loaded").in("paragon-ec2-oversubscribed")),
	},
}
