package nomadapi

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// ErrNotCopied: a copy of the group would reach what others work with.
var ErrNotCopied = errors.New("the group is not profiled")

// notCopied says why no copy of a group is run, with what its author can do about it, ""
// where one may be. group is as its user wrote it.
func notCopied(group object, allowed []performance.Permission) string {
	var found []finding
	for _, f := range findings(group, allowed) {
		if f.needs == "" || !slices.Contains(allowed, f.needs) {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return sentenceOf(found) + "; " + hintFor(found, allowed)
}

// hintFor names every permission that is missing, together with those that are there: the
// line can be copied.
func hintFor(found []finding, allowed []performance.Permission) string {
	var missing []performance.Permission
	for _, f := range found {
		if f.needs == "" {
			return "a copy can have none of it: profile { skip = true } ends this warning"
		}
		if !slices.Contains(missing, f.needs) {
			missing = append(missing, f.needs)
		}
	}
	var quoted []string
	for _, p := range performance.Permissions() {
		if slices.Contains(missing, p) || slices.Contains(allowed, p) {
			quoted = append(quoted, strconv.Quote(string(p)))
		}
	}
	return fmt.Sprintf("if a copy may, write profile { allow = [%s] } in its performance block", strings.Join(quoted, ", "))
}

// findings are everything of a group that its copy would share with what runs, or do
// again. Tasks that the copy does not have do nothing.
func findings(group object, allowed []performance.Permission) []finding {
	out := volumeFindings(group)
	for _, task := range group.objects("Tasks") {
		if strings.HasPrefix(task.text("Kind"), "connect-") {
			continue // a copy has none
		}
		if !copiedTask(task, allowed) {
			continue
		}
		out = append(out, configFindings(task)...)
		out = append(out, secretFindings(task)...)
		out = append(out, portFindings(group, task)...)
		if runsBefore(task) {
			out = append(out, finding{performance.AllowPrestart, taskText(task, "runs before the others, and would run again for a copy")})
		}
		if task.object("CSIPluginConfig") != nil {
			out = append(out, finding{"", taskText(task, "is a CSI plugin")})
		}
	}
	return out
}

// runsBefore: the others need what it leaves, so that a copy without it measures nothing.
func runsBefore(task object) bool {
	l := task.object("Lifecycle")
	return l.text("Hook") == "prestart" && !l.boolean("Sidecar")
}

// copiedTask reports whether a copy has the task. Those that run once, after the others
// have started or ended, are not needed to measure the others.
func copiedTask(task object, allowed []performance.Permission) bool {
	l := task.object("Lifecycle")
	switch {
	case l.text("Hook") == "poststart" && !l.boolean("Sidecar"):
		return slices.Contains(allowed, performance.AllowPoststart)
	case l.text("Hook") == "poststop":
		return slices.Contains(allowed, performance.AllowPoststop)
	}
	return true
}

// volumeFindings are volumes that a second copy cannot use; all others are made read-only
// for it.
func volumeFindings(group object) []finding {
	var out []finding
	volumes := group.object("Volumes")
	for _, name := range sortedKeys(volumes) {
		volume := volumes.object(name)
		text := ""
		switch {
		case volume.boolean("Sticky"):
			text = "volume %s is sticky, so it belongs to one allocation"
		case volume.text("Type") == "csi" && !volume.boolean("ReadOnly"):
			text = "volume %s is a writable CSI volume"
		case volume.text("AccessMode") == "single-node-single-writer":
			text = "volume %s allows a single user"
		default:
			continue
		}
		out = append(out, finding{"", fmt.Sprintf(text, quotedShort(name))})
	}
	return out
}

// templateFunctions read what is not in the job: secrets, keys, variables, and where
// services are.
const templateFunctions = `secrets?|pkiCert|caRoots|caLeaf|key|keyExists|keyExistsGet|keyOrDefault|ls|safeLs|tree|safeTree|` +
	`nomadVar|nomadVarExists|nomadVarList|nomadVarListSafe|nomadServices?|services?|connect|nodes?|datacenters|peerings|partitions|exportedServices`

var readsElsewhere = regexp.MustCompile(`(?:^|[\s(|=])(` + templateFunctions + `)(?:$|[\s")` + "`" + `])`)

// secretFindings are what gives a task secrets, or leads it to others. A copy is another
// job: what is bound to the job's name is refused to it, so that it never starts, and all
// else reaches production.
func secretFindings(task object) []finding {
	var out []finding
	add := func(format string, args ...any) {
		out = append(out, finding{performance.AllowSecrets, taskText(task, fmt.Sprintf(format, args...))})
	}
	if task.object("Vault") != nil {
		add("has a Vault token")
	}
	if task.object("Consul") != nil {
		add("has a Consul token")
	}
	if len(task.objects("Secrets")) > 0 {
		add("is given secrets")
	}
	if tokenOf(task) {
		add("is given a token of its workload identity")
	}
	for _, template := range task.objects("Templates") {
		text := template.text("EmbeddedTmpl")
		if source := template.text("SourcePath"); source != "" && text == "" {
			add("has a template in the file %s, which the placer does not see", quotedShort(source))
		}
		if name := functionIn(template, text); name != "" {
			add("has a template that reads %s", name)
		}
	}
	return out
}

// tokenOf reports whether the task sees a token of an identity. Nomad adds those for
// Vault and Consul by itself.
func tokenOf(task object) bool {
	for _, identity := range append(task.objects("Identities"), task.object("Identity")) {
		name := identity.text("Name")
		if strings.HasPrefix(name, "vault_") || strings.HasPrefix(name, "consul_") {
			continue
		}
		if identity.boolean("Env") || identity.boolean("File") {
			return true
		}
	}
	return false
}

// functionIn is the first function of a template that reads what is not in the job.
func functionIn(template object, text string) string {
	left, right := template.text("LeftDelim"), template.text("RightDelim")
	if left == "" {
		left = "{{"
	}
	if right == "" {
		right = "}}"
	}
	for {
		_, rest, ok := strings.Cut(text, left)
		if !ok {
			return ""
		}
		action, after, _ := strings.Cut(rest, right)
		if m := readsElsewhere.FindStringSubmatch(strings.TrimLeft(action, "-")); m != nil {
			return m[1]
		}
		text = after
	}
}

// hostNetwork are the drivers whose programs have the network of the host where the group
// has none of its own.
var hostNetwork = []string{"raw_exec", "exec", "exec2", "java", "pledge"}

// portFindings are fixed ports of the host that the program takes by itself: the copy's own
// ports are dynamic, and only a program that is told of them uses them.
func portFindings(group, task object) []finding {
	if !slices.Contains(hostNetwork, task.text("Driver")) {
		return nil
	}
	text := strings.Join(textsOf(task), "\n")
	var out []finding
	for _, network := range append(group.objects("Networks"), task.object("Resources").objects("Networks")...) {
		if mode := network.text("Mode"); mode != "" && mode != "host" {
			continue
		}
		for _, port := range network.objects("ReservedPorts") {
			if takesItself(text, port.text("Label"), port.number("Value")) {
				out = append(out, finding{performance.AllowHostPorts, taskText(task, fmt.Sprintf("may take the fixed port %d of the host, as it is not told of another by NOMAD_PORT_%s alone", port.number("Value"), port.text("Label")))})
			}
		}
	}
	return out
}

// textsOf are the texts that tell a program what to do.
func textsOf(task object) []string {
	out := textsIn(task["Config"])
	out = append(out, textsIn(task["Env"])...)
	for _, template := range task.objects("Templates") {
		out = append(out, template.text("EmbeddedTmpl"))
	}
	return out
}

// notInVariables is what Nomad replaces in the names of variables.
var notInVariables = regexp.MustCompile(`[^A-Za-z0-9_]`)

// takesItself: the program is given the number, or never the variable that has it.
func takesItself(text, label string, number int64) bool {
	name := regexp.QuoteMeta(notInVariables.ReplaceAllString(label, "_"))
	told := regexp.MustCompile(`NOMAD_(?:HOST_)?(?:PORT|ADDR)_` + name + `\b`).MatchString(text)
	written := regexp.MustCompile(`(?:^|[^0-9])` + strconv.FormatInt(number, 10) + `(?:$|[^0-9])`).MatchString(text)
	return written || !told
}
