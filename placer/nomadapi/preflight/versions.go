package preflight

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/go-version"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// supported is the range the product supports; nomadapi has the constant.
var supported = version.MustConstraints(version.NewConstraint(nomadapi.SupportedNomad))

// running is a version, and who has it.
type running struct{ what, name, version string }

// checkVersions wants every agent in the supported range, the servers equal, and no
// client ahead of a server.
func checkVersions(_ context.Context, n *nomad) []Line {
	var lines []Line
	var all []running
	servers, err := n.servers()
	if err != nil {
		lines = append(lines, unread(n, "The versions of the servers", `node { policy = "read" }`, err))
	}
	for _, s := range servers {
		all = append(all, running{"server", s.Name, s.Tags["build"]})
	}
	nodes, err := n.nodes()
	if err != nil {
		lines = append(lines, unread(n, "The versions of the clients", `node { policy = "read" }`, err))
	}
	for _, c := range nodes {
		if c.ready() {
			all = append(all, running{"client", c.Name, c.Attributes["nomad.version"]})
		}
	}
	lines = append(lines, outside(all)...)
	if lines == nil {
		lines = order(all)
	}
	return append(lines, Line{State: OK, Text: fmt.Sprintf("This program is nomad-placer %s.", n.o.Version)})
}

// outside has a line for every version out of range, with all who run it.
func outside(all []running) []Line {
	var old, untested, unknown grouped
	for _, r := range all {
		v, err := version.NewVersion(r.version)
		switch {
		case err != nil:
			unknown.add(r.what, r.name)
		case supported.Check(v.Core()):
		case v.LessThan(oldest):
			old.add(r.what+" "+r.version, r.name)
		default:
			untested.add(r.what+" "+r.version, r.name)
		}
	}
	var lines []Line
	add := func(g grouped, s State, text func(who, version string) string, cure string) {
		for _, kind := range g.order {
			what, version, _ := strings.Cut(kind, " ")
			lines = append(lines, Line{State: s, Text: text(wording.Capital(wording.List(what, g.names[kind])), version), Cure: cure, Names: g.names[kind]})
		}
	}
	add(old, Failed, func(who, version string) string {
		return fmt.Sprintf("%s: Nomad %s is older than what nomad-placer supports (%s).", who, version, nomadapi.SupportedNomad)
	}, "Upgrade Nomad, the servers first.")
	add(untested, Warning, func(who, version string) string {
		return fmt.Sprintf("%s: Nomad %s is newer than what nomad-placer was tested with (%s).", who, version, nomadapi.SupportedNomad)
	}, "Look for a newer nomad-placer, or try it on a cluster that is not in use.")
	add(unknown, Unknown, func(who, _ string) string { return who + ": the version of Nomad is not known." }, "")
	return lines
}

// oldest is the lower end of the range.
var oldest = version.Must(version.NewVersion("1.10.0"))

func order(all []running) []Line {
	versions := map[string][]string{}
	var newestServer, oldestServer *version.Version
	for _, r := range all {
		v := version.Must(version.NewVersion(r.version)) // outside has parsed it
		if r.what != "server" {
			continue
		}
		versions[r.version] = append(versions[r.version], r.name)
		if newestServer == nil || v.GreaterThan(newestServer) {
			newestServer = v
		}
		if oldestServer == nil || v.LessThan(oldestServer) {
			oldestServer = v
		}
	}
	var lines []Line
	if len(versions) > 1 {
		lines = append(lines, Line{State: Warning, Text: fmt.Sprintf("The servers run different versions of Nomad, from %s to %s.", oldestServer, newestServer), Cure: "Finish the upgrade of the servers."})
	}
	var ahead []string
	clients := 0
	for _, r := range all {
		if r.what == "client" {
			clients++
			if oldestServer != nil && version.Must(version.NewVersion(r.version)).GreaterThan(oldestServer) {
				ahead = append(ahead, r.name)
			}
		}
	}
	if len(ahead) > 0 {
		lines = append(lines, Line{State: Warning, Names: ahead, Cure: "Upgrade the servers: Nomad supports clients that are older than the servers, and not the other way round.",
			Text: fmt.Sprintf("%s of a newer version of Nomad than a server.", wording.Capital(wording.List("client", ahead))+verb(len(ahead)))})
	}
	if lines == nil {
		lines = one(OK, fmt.Sprintf("%s and %s run supported versions of Nomad (%s).", wording.Count(len(all)-clients, "server"), wording.Count(clients, "client"), nomadapi.SupportedNomad), "")
	}
	return lines
}

func verb(n int) string {
	if n == 1 {
		return " is"
	}
	return " are"
}
