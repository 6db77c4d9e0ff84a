package nomadapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// The fields of a task that decide what it does to a machine. Names, services,
// constraints and restart rules do not.
var profiledTaskFields = []string{"Driver", "Config", "Env", "Templates", "Artifacts", "User", "Kind", "Lifecycle", "VolumeMounts"}

// The fields of a task's resources that are its size.
var profiledSizeFields = []string{"CPU", "Cores", "MemoryMB", "MemoryMaxMB", "Devices"}

// KeyRules say which workloads have one key. The zero value takes the defaults.
type KeyRules struct {
	Sharing   profile.Sharing
	IgnoreEnv []string // variables of the environment that change nothing; nil: profile.BuildVariables
}

// profileKey is the identity of a workload's content: groups with the same key
// share one profile, whatever they are called and however many run. Content is in it as the
// job has it: what a template reads when the task starts, and what is on a volume, is not.
//
// The key names the scope of the namespace, but for that of "default": profiles from before
// keys named any are found there.
func (rules KeyRules) profileKey(namespace string, group object, kind performance.Kind) string {
	tasks := []any{}
	for _, task := range group.objects("Tasks") {
		content := pick(task, profiledTaskFields)
		content["Resources"] = map[string]any(pick(task.object("Resources"), profiledSizeFields))
		content["Env"] = rules.environment(task)
		tasks = append(tasks, map[string]any(content))
	}
	of := map[string]any{"Tasks": tasks, "Target": string(kind), "Volumes": volumeSources(group)}
	if scope := rules.Sharing.Scope(namespace); scope != profile.DefaultNamespace {
		of["Scope"] = scope
	}
	sum := sha256.Sum256(canonical(withoutZeros(of)))
	return hex.EncodeToString(sum[:])
}

func (rules KeyRules) environment(task object) map[string]any {
	ignored := rules.IgnoreEnv
	if ignored == nil {
		ignored = profile.BuildVariables()
	}
	out := map[string]any{}
	for name, value := range task.object("Env") {
		if !slices.Contains(ignored, name) {
			out[name] = value
		}
	}
	return out
}

// volumeSources are what the group's volumes are, by name.
func volumeSources(group object) map[string]any {
	out := map[string]any{}
	for name := range group.object("Volumes") {
		out[name] = map[string]any(pick(group.object("Volumes").object(name), []string{"Type", "Source"}))
	}
	return out
}

// withoutZeros drops fields that are zero, "" or false. Nomad writes them into a
// stored job and leaves them out of a parsed one; they mean the same.
func withoutZeros(v any) any {
	switch t := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, item := range t {
			switch kept := withoutZeros(item); kept {
			case "", false, json.Number("0"), nil:
			default:
				out[k] = kept
			}
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, item := range t {
			out[i] = withoutZeros(item)
		}
		return out
	default:
		return v
	}
}

func pick(from object, fields []string) object {
	out := object{}
	for _, f := range fields {
		if v, ok := from[f]; ok {
			out[f] = v
		}
	}
	return out
}
