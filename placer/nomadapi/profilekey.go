package nomadapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// The fields of a task that decide what it does to a machine. Names, services,
// constraints and restart rules do not.
var profiledTaskFields = []string{"Driver", "Config", "Env", "Templates", "Artifacts", "User", "Kind", "Lifecycle", "VolumeMounts"}

// The fields of a task's resources that are its size.
var profiledSizeFields = []string{"CPU", "Cores", "MemoryMB", "MemoryMaxMB", "Devices"}

// profileKey is the identity of a workload's content: groups with the same key
// share one profile, whatever they are called and however many run.
func profileKey(group object, kind performance.Kind) string {
	tasks := []any{}
	for _, task := range group.objects("Tasks") {
		content := pick(task, profiledTaskFields)
		content["Resources"] = map[string]any(pick(task.object("Resources"), profiledSizeFields))
		tasks = append(tasks, map[string]any(content))
	}
	sum := sha256.Sum256(canonical(withoutZeros(map[string]any{"Tasks": tasks, "Target": string(kind)})))
	return hex.EncodeToString(sum[:])
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
