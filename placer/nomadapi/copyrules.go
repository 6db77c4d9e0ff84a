package nomadapi

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// finding is something that a copy of a group would share with what runs, or do a second
// time.
type finding struct {
	needs performance.Permission // of the author; "": a copy can never have it
	text  string                 // what the task has: `task "db" mounts "/srv/db" of the host`
}

// configRule judges the value of one key of a task's driver configuration. It says what
// follows "task X", once per finding.
type configRule struct {
	needs performance.Permission
	judge func(value any, task object) []string
}

// configRules are by key, in small letters. Which keys a driver has is in driverKeys.
var configRules = map[string]configRule{
	"volumes":         {performance.AllowHostPaths, judgeBinds},
	"binds":           {performance.AllowHostPaths, judgeBinds},
	"bind":            {performance.AllowHostPaths, judgeBinds},
	"bind_read_only":  {performance.AllowHostPaths, judgeBinds},
	"mount_read_only": {performance.AllowHostPaths, judgeBinds},
	"mount":           {performance.AllowHostPaths, judgeMounts},
	"mounts":          {performance.AllowHostPaths, judgeMounts},
	"unveil":          {performance.AllowHostPaths, judgeUnveiled},
	"unveil_paths":    {performance.AllowHostPaths, judgeUnveiled},
	"image_path":      {performance.AllowHostPaths, judgePaths},
	"disk":            {performance.AllowHostPaths, judgePaths},
	"disks":           {performance.AllowHostPaths, judgePaths},
	"bootdisk":        {performance.AllowHostPaths, judgePaths},
	"chroot":          {performance.AllowHostPaths, judgePaths},
	"rootfs":          {performance.AllowHostPaths, judgePaths},
	"work_dir":        {performance.AllowHostPaths, judgePaths},
	"args":            {performance.AllowHostPaths, judgeArguments},
	"devices":         {performance.AllowPrivileges, judgeGiven("uses devices of the host")},
	"device":          {performance.AllowPrivileges, judgeGiven("uses devices of the host")},
	"privileged":      {performance.AllowPrivileges, judgeGiven("is privileged")},
	"cap_add":         {performance.AllowPrivileges, judgeCapabilities},
	"capability":      {performance.AllowPrivileges, judgeCapabilities},
	"capabilities":    {performance.AllowPrivileges, judgeCapabilities},
	"pid_mode":        {performance.AllowPrivileges, judgeOfHost("processes")},
	"ipc_mode":        {performance.AllowPrivileges, judgeOfHost("shared memory")},
	"uts_mode":        {performance.AllowPrivileges, judgeOfHost("name")},
	"userns_mode":     {performance.AllowPrivileges, judgeOfHost("users")},
	"userns":          {performance.AllowPrivileges, judgeOfHost("users")},
	"cgroupns":        {performance.AllowPrivileges, judgeOfHost("control groups")},
	"host_pid":        {performance.AllowPrivileges, judgeGiven("shares the processes of the host")},
	"host_ipc":        {performance.AllowPrivileges, judgeGiven("shares the shared memory of the host")},
	"security_opt":    {performance.AllowPrivileges, judgeSecurity},
	"network_mode":    {performance.AllowHostPorts, judgeOfHost("network")},
	"network":         {performance.AllowHostPorts, judgeOfHost("network")},
	"networks":        {performance.AllowHostPorts, judgeOfHost("network")},
	"host_network":    {performance.AllowHostPorts, judgeGiven("shares the network of the host")},
	"net_host":        {performance.AllowHostPorts, judgeGiven("shares the network of the host")},
	"ports":           {performance.AllowHostPorts, judgePublished},
	"publish":         {performance.AllowHostPorts, judgePublished},
}

// driverKeys are the keys of configRules that a driver has, as its documentation says.
// A driver that is not here is judged by all of them but the arguments, which mean
// something only to who knows where the program runs.
var driverKeys = map[string][]string{
	"docker": {
		"volumes", "mount", "mounts", "devices", "privileged", "cap_add", "pid_mode", "ipc_mode", "uts_mode", "userns_mode",
		"cgroupns", "security_opt", "network_mode",
	},
	"podman": {
		"volumes", "mount", "mounts", "devices", "privileged", "cap_add", "pid_mode", "ipc_mode", "userns", "cgroupns", "security_opt", "network_mode",
	},
	"containerd-driver": {"mounts", "devices", "privileged", "cap_add", "pid_mode", "ipc_mode", "host_network"},
	"nspawn":            {"bind", "bind_read_only", "capability", "network", "ports"},
	"lxc":               {"volumes", "network_mode"},
	"pot":               {"mount", "mount_read_only", "network_mode"},
	"qemu":              {"image_path", "args"},
	"virt":              {"disk", "disks"},
	"exec":              {"cap_add", "pid_mode", "ipc_mode"},
	"exec2":             {"unveil", "unveil_paths", "cap_add"},
	"java":              {"cap_add", "pid_mode", "ipc_mode"},
	"pledge":            {"unveil", "args", "work_dir"},
	"raw_exec":          {"args", "work_dir"},
	"mock_driver":       {},
	KernelDriver:        {},
}

// configFindings judge the driver configuration of a task.
func configFindings(task object) []finding {
	var out []finding
	add := func(key string, value any) {
		rule := configRules[key]
		for _, text := range rule.judge(value, task) {
			out = append(out, finding{rule.needs, taskText(task, text)})
		}
	}
	keys, known := driverKeys[task.text("Driver")]
	eachKey(task["Config"], !known, func(key string, value any) {
		if known && slices.Contains(keys, key) {
			add(key, value)
		}
		if _, judged := configRules[key]; judged && !known && key != "args" {
			add(key, value)
		}
	})
	if hostFiles[task.text("Driver")] {
		for _, text := range environmentPaths(task) {
			out = append(out, finding{performance.AllowHostPaths, taskText(task, text)})
		}
	}
	return out
}

func taskText(task object, text string) string {
	return fmt.Sprintf("task %s %s", quotedShort(task.text("Name")), text)
}

// eachKey calls f with each key of a configuration, in small letters and in order. HCL
// gives a block as a list of objects. deep: with those of blocks inside it as well.
func eachKey(config any, deep bool, f func(key string, value any)) {
	switch t := config.(type) {
	case []any:
		for _, item := range t {
			eachKey(item, deep, f)
		}
	case map[string]any, object:
		of := asObject(t)
		for _, key := range sortedKeys(of) {
			f(strings.ToLower(key), of[key])
			if deep {
				eachKey(of[key], deep, f)
			}
		}
	}
}

func sortedKeys(o object) []string {
	keys := make([]string, 0, len(o))
	for key := range o {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// quotedShort quotes text of a job for a sentence.
func quotedShort(text string) string {
	const longest = 60
	return strconv.Quote(wording.Shorten(text, longest))
}

// textsIn are all texts in a value: itself, in its lists, and values of its objects.
func textsIn(value any) []string {
	switch t := value.(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, item := range t {
			out = append(out, textsIn(item)...)
		}
		return out
	case map[string]any, object:
		var out []string
		of := asObject(t)
		for _, key := range sortedKeys(of) {
			out = append(out, textsIn(of[key])...)
		}
		return out
	default:
		return nil
	}
}

// given reports whether an option is set to anything but no.
func given(value any) bool {
	switch t := value.(type) {
	case nil:
		return false
	case bool:
		return t
	case string:
		return t != "" && t != "false" && t != "0"
	case []any:
		return len(t) > 0
	case map[string]any:
		return len(t) > 0
	default:
		return fmt.Sprint(t) != "0"
	}
}

func judgeGiven(text string) func(any, object) []string {
	return func(value any, _ object) []string {
		if given(value) {
			return []string{text}
		}
		return nil
	}
}

func judgeOfHost(what string) func(any, object) []string {
	return func(value any, _ object) []string {
		for _, text := range textsIn(value) {
			if text == "host" || strings.HasPrefix(text, "host:") || strings.HasPrefix(text, "ns:") {
				return []string{"shares the " + what + " of the host"}
			}
		}
		return nil
	}
}

func judgeSecurity(value any, _ object) []string {
	for _, text := range textsIn(value) {
		if strings.Contains(text, "unconfined") || strings.Contains(text, "disable") {
			return []string{"runs without " + quotedShort(text)}
		}
	}
	return nil
}

// capabilitiesOfHost are those with which a program changes the host, or reads what is
// not its own.
var capabilitiesOfHost = []string{
	"all", "sys_admin", "sys_module", "sys_rawio", "sys_ptrace", "sys_boot", "sys_time", "net_admin", "mknod", "dac_read_search", "bpf", "perfmon", "syslog",
}

func judgeCapabilities(value any, _ object) []string {
	var out []string
	for _, text := range textsIn(value) {
		name := strings.TrimPrefix(strings.ToLower(text), "cap_")
		if slices.Contains(capabilitiesOfHost, name) {
			out = append(out, "has the capability "+name)
		}
	}
	return out
}

// judgeBinds reads "source:target[:options]", and objects from source to target.
func judgeBinds(value any, task object) []string {
	var sources []string
	switch t := value.(type) {
	case map[string]any, object:
		sources = sortedKeys(asObject(t))
	case []any:
		for _, item := range t {
			if o := asObject(item); o != nil {
				sources = append(sources, sortedKeys(o)...)
				continue
			}
			sources = append(sources, bindSources(textsIn(item))...)
		}
	default:
		sources = bindSources(textsIn(value))
	}
	return mounted(sources, task)
}

// bindSources is what stands before the first colon that is not part of "${…}".
func bindSources(binds []string) []string {
	var out []string
	for _, bind := range binds {
		rest, end := bind, len(bind)
		for offset := 0; ; {
			colon := strings.IndexByte(rest, ':')
			open := strings.Index(rest, "${")
			if colon < 0 {
				break
			}
			if open < 0 || colon < open {
				end = offset + colon
				break
			}
			closed := strings.IndexByte(rest[open:], '}')
			if closed < 0 {
				break
			}
			offset, rest = offset+open+closed+1, rest[open+closed+1:]
		}
		out = append(out, bind[:end])
	}
	return out
}

// judgeMounts reads mounts as blocks with a type, source and target; some drivers take
// them as texts, like volumes.
func judgeMounts(value any, task object) []string {
	var sources []string
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	for _, item := range list {
		mount := asObject(item)
		if mount == nil {
			sources = append(sources, bindSources(textsIn(item))...)
			continue
		}
		var source, kind string
		for key, v := range mount {
			text, _ := v.(string)
			switch strings.ToLower(key) {
			case "source", "src", "host_path":
				source = text
			case "type":
				kind = text
			}
		}
		switch {
		case kind == "tmpfs" || source == "":
		case kind == "bind" || kind == "":
			sources = append(sources, source)
		default:
			sources = append(sources, "volume "+source) // of the host, by its name
		}
	}
	return mounted(sources, task)
}

func mounted(sources []string, task object) []string {
	var out []string
	for _, source := range sources {
		if ofHost(source, task) {
			out = append(out, fmt.Sprintf("mounts %s of the host", quotedShort(source)))
		}
	}
	return out
}

// taskFolders are a task's own directories, as its configuration may write them.
var taskFolders = []string{"${NOMAD_TASK_DIR}", "${NOMAD_ALLOC_DIR}", "${NOMAD_SECRETS_DIR}", "local", "secrets", "tmp", "../alloc", "../tmp"}

// relativeToTask are the drivers that take a relative source as one in the task's
// directory. To others it may be the name of a volume.
var relativeToTask = []string{"docker", "podman", "containerd-driver", "lxc"}

// ofHost reports whether the source of a mount is not in the task's own directories.
func ofHost(source string, task object) bool {
	if source == "" {
		return false
	}
	cleaned := path.Clean(source)
	for _, folder := range taskFolders {
		if cleaned == folder || strings.HasPrefix(cleaned, folder+"/") {
			return false
		}
	}
	named := given(valueOf(task, "volume_driver"))
	if !named && slices.Contains(relativeToTask, task.text("Driver")) && !strings.HasPrefix(source, "volume ") {
		return path.IsAbs(cleaned) || cleaned == ".." || strings.HasPrefix(cleaned, "../") || strings.Contains(cleaned, "${")
	}
	return true
}

// valueOf is a key of the task's configuration, whatever its case.
func valueOf(task object, key string) (value any) {
	eachKey(task["Config"], false, func(k string, v any) {
		if k == key {
			value = v
		}
	})
	return value
}

// judgeUnveiled reads "permissions:path" of drivers that bind a program to paths of the
// host.
func judgeUnveiled(value any, task object) []string {
	var out []string
	for _, text := range textsIn(value) {
		permissions, unveiled, ok := strings.Cut(text, ":")
		if ok && strings.ContainsAny(permissions, "wc") && ofHost(unveiled, task) {
			out = append(out, fmt.Sprintf("may write %s of the host", quotedShort(unveiled)))
		}
	}
	return out
}

func judgePaths(value any, _ object) []string {
	var out []string
	for _, text := range textsIn(value) {
		if path.IsAbs(text) {
			out = append(out, fmt.Sprintf("uses %s of the host", quotedShort(text)))
		}
	}
	return out
}

// hostFiles are the drivers whose programs see the files of the host at their own paths.
var hostFiles = map[string]bool{"raw_exec": true, "qemu": true, "pledge": true}

// dataPath finds paths of the host below the directories that hold data, and not
// programs, in a command line. That it finds none proves nothing: a script may build one.
var dataPath = regexp.MustCompile(`(?:^|[\s"'=:,;<>(\[])(/(?:srv|var|home|root|mnt|media|data|run|export|nfs|storage|volumes|dev)(?:/[^\s"',;:<>)\]]*)?)(?:$|[\s"',;:<>)\]])`)

// harmlessDevices keep nothing.
var harmlessDevices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"}

func dataPathsIn(text string) []string {
	var out []string
	for {
		at := dataPath.FindStringSubmatchIndex(text)
		if at == nil {
			return out
		}
		if found := text[at[2]:at[3]]; !slices.Contains(harmlessDevices, found) && !strings.HasPrefix(found, "/dev/fd/") {
			out = append(out, found)
		}
		text = text[at[3]:] // what ended this path may begin the next
	}
}

func judgeArguments(value any, _ object) []string {
	var out []string
	for _, text := range textsIn(value) {
		for _, found := range dataPathsIn(text) {
			out = append(out, fmt.Sprintf("is given %s of the host", quotedShort(found)))
		}
		if forwardedPort.MatchString(text) {
			out = append(out, "forwards a fixed port of the host")
		}
	}
	return out
}

// forwardedPort is how the qemu driver's arguments take a port of the host.
var forwardedPort = regexp.MustCompile(`hostfwd=(?:tcp|udp)?:[^:]*:[0-9]+`)

// searchedPaths are variables that name where programs are found.
var searchedPaths = []string{"PATH", "LD_LIBRARY_PATH", "HOME", "PWD", "OLDPWD", "SHELL", "TMPDIR"}

func environmentPaths(task object) []string {
	var out []string
	env := task.object("Env")
	for _, name := range sortedKeys(env) {
		if slices.Contains(searchedPaths, name) {
			continue
		}
		for _, found := range dataPathsIn(env.text(name)) {
			out = append(out, fmt.Sprintf("is given %s of the host by its variable %s", quotedShort(found), quotedShort(name)))
		}
	}
	return out
}

// published finds "8080:80" and "127.0.0.1:8080:80": a fixed port of the host.
var published = regexp.MustCompile(`^(?:\[?[0-9a-fA-F.:]*\]?:)?([0-9]+):[0-9]+(?:/[a-z]+)?$`)

func judgePublished(value any, _ object) []string {
	var out []string
	for _, text := range textsIn(value) {
		if m := published.FindStringSubmatch(text); m != nil {
			out = append(out, fmt.Sprintf("takes the fixed port %s of the host", m[1]))
		}
	}
	return out
}

// sentenceOf joins what was found, the first few of it.
func sentenceOf(found []finding) string {
	const most = 3
	var texts []string
	for _, r := range found {
		if !slices.Contains(texts, r.text) {
			texts = append(texts, r.text)
		}
	}
	if more := len(texts) - most; more > 0 {
		texts = append(texts[:most], wording.Count(more, "further reason"))
	}
	return strings.Join(texts, ", ")
}
