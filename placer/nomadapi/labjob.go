package nomadapi

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Names of a profiling run. The prefix tells profiling allocations apart in
// lists that carry no job meta.
const (
	labJobPrefix    = "placer-profile-"
	labTask         = "placer-profiler"
	metaProfileID   = "placer.profile_id"
	metaDeadline    = "placer.deadline"
	metaNode        = "placer.node" // where it runs
	envProfiling    = "PLACER_PROFILE"
	labJobIDMaxText = 64

	// labPriority is Nomad's lowest: a copy never takes the place of what runs, and is the
	// first to give way.
	labPriority = 1
)

// What the profiler task asks of the node in addition to its CPU and memory.
const (
	labTaskLogFiles    = 2
	labTaskLogFileMB   = 1
	labExtraDiskMB     = 16 // its log files, the result and Nomad's demand for room besides logs
	labKillTimeout     = 5 * time.Second
	labUserKillTimeout = 10 * time.Second // a copy need not end in style
)

// labJobID is the Nomad job of a profiling run. Ids that are not plain are
// shortened and distinguished by their hash.
func labJobID(id string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, id)
	if plain == id && len(id) <= labJobIDMaxText {
		return labJobPrefix + id
	}
	sum := sha256.Sum256([]byte(id))
	return labJobPrefix + plain[:min(len(plain), labJobIDMaxText)] + "-" + hex.EncodeToString(sum[:4])
}

// labJob is the job of a profiling run: the user's group, once, on one node, with
// everything that reaches outside it taken off, together with our profiler task.
func labJob(user object, r cluster.ProfileRequest, owner string) (object, error) {
	group, err := labGroup(user, r)
	if err != nil {
		return nil, err
	}
	profiler, err := profilerTask(group.objects("Tasks"), r)
	if err != nil {
		return nil, err
	}
	group.setList("Tasks", append(group.objects("Tasks"), profiler))
	return labJobWith(user, group, r, owner), nil
}

// labJobWith is a job with that group, and otherwise like the user's.
func labJobWith(user, group object, r cluster.ProfileRequest, owner string) object {
	meta := object{}
	maps.Copy(meta, user.object("Meta"))
	maps.Copy(meta, object{metaOwner: owner, metaProfileID: r.ID, metaNode: string(r.Node.ID), metaDeadline: r.Deadline.UTC().Format(time.RFC3339)})
	job := pick(user, []string{"Namespace", "Region", "ConsulNamespace", "VaultNamespace"})
	job["Priority"] = labPriority
	job["ID"] = labJobID(r.ID)
	job["Name"] = job["ID"]
	job["Type"] = "batch"
	job["NodePool"] = cmp.Or(r.Node.Pool, "default")
	job["Datacenters"] = []any{"*"}
	job["Meta"] = map[string]any(meta)
	job.setList("Constraints", append(withoutOurs(user.objects("Constraints")), object{
		"LTarget": nodeIDTarget, "Operand": "=", "RTarget": string(r.Node.ID),
	}))
	job.setList("TaskGroups", []object{group})
	return job
}

func findGroup(job object, name string) object {
	for _, g := range job.objects("TaskGroups") {
		if g.text("Name") == name {
			return g
		}
	}
	return nil
}

func withoutOurs(list []object) []object {
	return slices.DeleteFunc(slices.Clone(list), isOurs)
}

// The parts of a group that reach outside one copy of it.
var labDroppedGroupFields = []string{
	"Affinities", "Spreads", "Services", "Scaling", "Update", "Migrate", "Consul",
	"Disconnect", "MaxClientDisconnect", "StopAfterClientDisconnect", "PreventRescheduleOnLost", "ShutdownDelay",
}

// The parts of a task that reach outside it.
var labDroppedTaskFields = []string{
	"Affinities", "Services", "ScalingPolicies", "Actions", "Schedule", "DispatchPayload", "ShutdownDelay",
}

// labGroup is a copy of the group of a request, without the profiler task.
func labGroup(job object, r cluster.ProfileRequest) (object, error) {
	user := findGroup(job, r.Workload.ID.Group)
	if user == nil {
		return nil, fmt.Errorf("job %s has no group %q: %w", r.Job.ID, r.Workload.ID.Group, cluster.ErrStale)
	}
	if why := notCopied(user, r.Workload.Spec.Profile.Allow); why != "" {
		return nil, fmt.Errorf("%w: %s", ErrNotCopied, why)
	}
	group := user.clone()
	for _, f := range labDroppedGroupFields {
		delete(group, f)
	}
	group["Count"] = 1
	if task := findTask(group, r.Workload.Sizable.Task); task != nil {
		setSize(task, r.Size)
	}
	group["RestartPolicy"] = never()
	group["ReschedulePolicy"] = map[string]any{"Attempts": 0, "Unlimited": false}
	group.setList("Constraints", withoutOurs(group.objects("Constraints")))
	group["EphemeralDisk"] = map[string]any{
		"SizeMB": user.object("EphemeralDisk").number("SizeMB") + labExtraDiskMB, "Sticky": false, "Migrate": false,
	}
	if meta := group.object("Meta"); meta != nil {
		delete(meta, MetaKey)
	}
	labVolumes(group)
	for _, network := range group.objects("Networks") {
		freePorts(network)
	}
	group.setList("Tasks", labTasks(group, r.Workload.Spec.Profile.Allow))
	return group, nil
}

func never() map[string]any {
	return map[string]any{"Attempts": 0, "Mode": "fail", "Delay": int64(time.Second), "Interval": int64(time.Minute)}
}

// labVolumes makes every volume read-only.
func labVolumes(group object) {
	for name := range group.object("Volumes") {
		group.object("Volumes").object(name)["ReadOnly"] = true
	}
	for _, task := range group.objects("Tasks") {
		for _, mount := range task.objects("VolumeMounts") {
			mount["ReadOnly"] = true
		}
	}
}

// freePorts makes static ports dynamic, so that the copy does not collide with a
// running one. Inside a network namespace the task still sees its own port.
func freePorts(network object) {
	dynamic := network.objects("DynamicPorts")
	for _, port := range network.objects("ReservedPorts") {
		if mode := network.text("Mode"); mode != "" && mode != "host" && port.number("To") == 0 {
			port["To"] = port["Value"]
		}
		delete(port, "Value")
		dynamic = append(dynamic, port)
	}
	delete(network, "ReservedPorts")
	network.setList("DynamicPorts", dynamic)
}

func labTasks(group object, allowed []performance.Permission) []object {
	var out []object
	for _, task := range group.objects("Tasks") {
		if !copiedTask(task, allowed) {
			continue
		}
		if strings.HasPrefix(task.text("Kind"), "connect-") {
			continue // injected by Nomad for a service that the copy does not have
		}
		for _, f := range labDroppedTaskFields {
			delete(task, f)
		}
		env := task.object("Env")
		if env == nil {
			env = object{}
		}
		env[envProfiling] = "1"
		task["Env"] = map[string]any(env)
		task["Leader"] = false
		task["RestartPolicy"] = never()
		if task.number("KillTimeout") > int64(labUserKillTimeout) {
			task["KillTimeout"] = int64(labUserKillTimeout)
		}
		for _, network := range task.object("Resources").objects("Networks") {
			freePorts(network)
		}
		task.setList("Constraints", withoutOurs(task.objects("Constraints")))
		out = append(out, task)
	}
	return out
}

// profilerTask drives the kernels and leads the group: when it ends, so does the
// copy.
func profilerTask(tasks []object, r cluster.ProfileRequest) (object, error) {
	request, err := labRequest(tasks, r)
	if err != nil {
		return nil, err
	}
	return profilerTaskOf(request), nil
}

// profilerTaskOf is the task of the driver that does what a request says.
func profilerTaskOf(request string) object {
	return object{
		"Name":          labTask,
		"Driver":        KernelDriver,
		"Leader":        true,
		"Config":        map[string]any{"profile": []any{map[string]any{"request": request}}},
		"Resources":     map[string]any{"CPU": cluster.ProfilerCPUMHz, "MemoryMB": cluster.ProfilerMemoryMB},
		"LogConfig":     map[string]any{"MaxFiles": labTaskLogFiles, "MaxFileSizeMB": labTaskLogFileMB},
		"RestartPolicy": never(),
		"KillTimeout":   int64(labKillTimeout),
	}
}

// labRequest is the JSON the driver reads.
func labRequest(tasks []object, r cluster.ProfileRequest) (string, error) {
	running := runningTasks(tasks)
	if len(running) == 0 {
		return "", fmt.Errorf("group %s has no task that can be profiled", r.Workload.ID)
	}
	request := profiler.Request{
		Format:          profiler.RequestFormat,
		Key:             r.Workload.ProfileKey,
		Workload:        r.Workload.ID.String(),
		Configuration:   r.Node.Configuration,
		NodeID:          string(r.Node.ID),
		NodeName:        r.Node.Name,
		Task:            running[0],
		Tasks:           running,
		Target:          r.Workload.Spec.Target,
		Probe:           r.Workload.Spec.Probe,
		Sources:         r.Sources,
		Further:         r.Further,
		Seconds:         r.Seconds,
		SlowdownPercent: r.Workload.Spec.SlowdownMaxPercent,
		Seed:            seedOf(r.ID),
	}
	if r.Sweep {
		request.Method = profiler.MethodSweep
	}
	return requestText(request)
}

// requestText is a request as the job has it.
func requestText(request profiler.Request) (string, error) {
	b, err := json.Marshal(request)
	if err != nil {
		return "", fmt.Errorf("profiling request: %w", err)
	}
	return escaped(b), nil
}

// escaped is JSON as a job has it. Nomad replaces ${…} inside task configuration; as an
// escape the character is the same to the JSON reader and nothing to Nomad.
func escaped(text []byte) string { return strings.ReplaceAll(string(text), "$", `\u0024`) }

// runningTasks names the tasks that run for as long as the group does: main tasks
// first, then sidecars. Tasks that run to their end before or after them cannot be
// pressed on.
func runningTasks(tasks []object) []string {
	var main, sidecars []string
	for _, task := range tasks {
		l := task.object("Lifecycle")
		switch {
		case l.text("Hook") == "":
			main = append(main, task.text("Name"))
		case l.boolean("Sidecar"):
			sidecars = append(sidecars, task.text("Name"))
		}
	}
	if len(main) == 0 {
		return nil
	}
	return append(main, sidecars...)
}

func seedOf(id string) uint64 {
	sum := sha256.Sum256([]byte(id))
	return binary.BigEndian.Uint64(sum[:8])
}
