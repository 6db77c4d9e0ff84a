package preflight

import "context"

// check looks at one thing.
type check struct {
	name string
	// needs names the checks that must not have failed before this one makes sense.
	needs []string
	run   func(context.Context, *nomad) []Line
}

// checks are all of them, in the order in which they are made and printed.
var checks = []check{
	{name: "server", run: checkServer},
	{name: "tls", needs: []string{"server"}, run: checkTLS},
	{name: "token", needs: []string{"server"}, run: checkToken},
	{name: "rights", needs: []string{"server", "token"}, run: checkRights},
	{name: "versions", needs: []string{"server", "token"}, run: checkVersions},
	{name: "pools", needs: []string{"server", "token"}, run: checkPools},
	{name: "driver", needs: []string{"server", "token"}, run: checkDriver},
	{name: "permissions", needs: []string{"server", "token"}, run: checkPermissions},
	{name: "calibration", needs: []string{"server", "token"}, run: checkCalibration},
	{name: "leader", needs: []string{"server", "token"}, run: checkLeader},
	{name: "clocks", needs: []string{"server"}, run: checkClocks},
}
