package nomadapi

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// objectOf is a part of a job as it is read from Nomad.
func objectOf(t *testing.T, text string) object {
	t.Helper()
	var o object
	if err := decodeNumbers(strings.NewReader(text), &o); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return o
}

// What a driver's configuration may reach beyond the copy, a table for each driver. "needs"
// is the permission without which no copy is run; none: one is.
func TestCopyRulesOfDrivers(t *testing.T) {
	t.Parallel()
	const (
		paths, ports, privileges = performance.AllowHostPaths, performance.AllowHostPorts, performance.AllowPrivileges
		none                     = performance.Permission("")
	)
	for driver, cases := range map[string][]struct {
		config string
		needs  performance.Permission
		text   string
	}{
		"docker": {
			{`{"image": "redis", "args": ["--dir", "/data"], "ports": ["redis"]}`, none, ""},
			{`{"volumes": ["/srv/db:/data"]}`, paths, `mounts "/srv/db" of the host`},
			{`{"volumes": ["/srv/db:/data:ro"]}`, paths, `"/srv/db"`},
			{`{"volumes": ["/var/run/docker.sock:/var/run/docker.sock"]}`, paths, "docker.sock"},
			{`{"volumes": ["local/conf:/etc/app", "../alloc/logs:/logs", "secrets/:/s", "${NOMAD_TASK_DIR}/a:/a"]}`, none, ""},
			{`{"volumes": ["local/../../../../srv:/data"]}`, paths, "mounts"},
			{`{"volumes": ["${meta.data}:/data"]}`, paths, `"${meta.data}"`},
			{`{"volumes": ["db:/data"], "volume_driver": "pxd"}`, paths, `mounts "db"`},
			{`{"Volumes": ["/srv/db:/data"]}`, paths, `"/srv/db"`},
			{`{"mount": [{"type": "bind", "source": "/srv/db", "target": "/data"}]}`, paths, `"/srv/db"`},
			{`{"mount": [{"type": "bind", "source": "local", "target": "/l"}, {"type": "tmpfs", "target": "/t"}]}`, none, ""},
			{`{"mounts": [{"type": "volume", "source": "db", "target": "/data"}]}`, paths, `mounts "volume db"`},
			{`{"mounts": [{"type": "volume", "target": "/data"}]}`, none, ""},
			{`{"devices": [{"host_path": "/dev/fuse"}]}`, privileges, "devices"},
			{`{"privileged": true}`, privileges, "is privileged"},
			{`{"privileged": "true"}`, privileges, "is privileged"},
			{`{"privileged": false, "cap_add": ["net_bind_service"]}`, none, ""},
			{`{"cap_add": ["CAP_SYS_ADMIN"]}`, privileges, "capability sys_admin"},
			{`{"cap_add": ["ALL"]}`, privileges, "capability all"},
			{`{"pid_mode": "host"}`, privileges, "processes of the host"},
			{`{"ipc_mode": "host"}`, privileges, "shared memory of the host"},
			{`{"userns_mode": "host"}`, privileges, "users of the host"},
			{`{"security_opt": ["apparmor=unconfined"]}`, privileges, "runs without"},
			{`{"network_mode": "host"}`, ports, "network of the host"},
			{`{"network_mode": "bridge"}`, none, ""},
		},
		"podman": {
			{`{"image": "redis", "volumes": ["local/a:/a"]}`, none, ""},
			{`{"volumes": ["/srv/db:/data:rw"]}`, paths, `"/srv/db"`},
			{`{"devices": ["/dev/net/tun"]}`, privileges, "devices"},
			{`{"privileged": true}`, privileges, "is privileged"},
			{`{"network_mode": "host"}`, ports, "network of the host"},
			{`{"userns": "host"}`, privileges, "users of the host"},
			{`{"security_opt": ["label=disable"]}`, privileges, "runs without"},
		},
		"containerd-driver": {
			{`{"image": "redis"}`, none, ""},
			{`{"mounts": [{"type": "bind", "source": "/srv/db", "target": "/data", "options": ["rbind", "rw"]}]}`, paths, `"/srv/db"`},
			{`{"mounts": [{"type": "tmpfs", "target": "/t"}]}`, none, ""},
			{`{"devices": ["/dev/loop0"]}`, privileges, "devices"},
			{`{"host_network": true}`, ports, "network of the host"},
			{`{"privileged": true}`, privileges, "is privileged"},
		},
		"nspawn": {
			{`{"image": "debian"}`, none, ""},
			{`{"bind": [{"/srv/db": "/data"}]}`, paths, `"/srv/db"`},
			{`{"bind_read_only": {"/srv/db": "/data"}}`, paths, `"/srv/db"`},
			{`{"capability": ["CAP_NET_ADMIN"]}`, privileges, "net_admin"},
		},
		"lxc": {
			{`{"template": "/usr/share/lxc/templates/lxc-busybox"}`, none, ""},
			{`{"volumes": ["/srv/db:data"]}`, paths, `"/srv/db"`},
			{`{"volumes": ["local/x:data"]}`, none, ""},
			{`{"network_mode": "host"}`, ports, "network of the host"},
		},
		"pot": {
			{`{"mount": ["/srv/db:/data"]}`, paths, `"/srv/db"`},
			{`{"network_mode": "host"}`, ports, "network of the host"},
		},
		"qemu": {
			{`{"image_path": "local/linux.img", "args": ["-nodefaults"]}`, none, ""},
			{`{"image_path": "/srv/linux.img"}`, paths, `"/srv/linux.img"`},
			{`{"image_path": "local/l.img", "args": ["-drive", "file=/srv/db.qcow2,if=virtio"]}`, paths, `"/srv/db.qcow2"`},
			{`{"image_path": "local/l.img", "args": ["-nic", "user,hostfwd=tcp::8080-:80"]}`, paths, "fixed port"},
		},
		"virt": {
			{`{"disk": [{"source": "/srv/vm.img"}]}`, paths, `"/srv/vm.img"`},
		},
		"exec": {
			{`{"command": "/bin/db", "args": ["--data", "/srv/db"]}`, none, ""}, // of its own root
			{`{"command": "x", "pid_mode": "host"}`, privileges, "processes of the host"},
			{`{"command": "x", "cap_add": ["sys_rawio"]}`, privileges, "sys_rawio"},
		},
		"exec2": {
			{`{"command": "x", "unveil": ["r:/etc/mtab"]}`, none, ""},
			{`{"command": "x", "unveil": ["rwc:/srv/db"]}`, paths, `may write "/srv/db"`},
		},
		"java": {
			{`{"jar_path": "local/x.jar", "jvm_options": ["-Xmx1g"]}`, none, ""},
			{`{"jar_path": "local/x.jar", "ipc_mode": "host"}`, privileges, "shared memory of the host"},
		},
		"raw_exec": {
			{`{"command": "/usr/bin/redis-server", "args": ["--port", "${NOMAD_PORT_redis}", "--bind", "127.0.0.1"]}`, none, ""},
			{`{"command": "/bin/bash", "args": ["-c", "while :; do head -c 16000000 /dev/zero | sha256sum >/dev/null; done"]}`, none, ""},
			{`{"command": "curl", "args": ["http://127.0.0.1:80/data/x", "-path=/metrics"]}`, none, ""},
			{`{"command": "db", "args": ["--data-dir", "/srv/db"]}`, paths, `is given "/srv/db" of the host`},
			{`{"command": "db", "args": ["--data-dir=/var/lib/db"]}`, paths, `"/var/lib/db"`},
			{`{"command": "sh", "args": ["-c", "exec db /dev/null /mnt/db>log"]}`, paths, `"/mnt/db"`},
			{`{"command": "sh", "args": ["-c", "dd of=/dev/sdb"]}`, paths, `"/dev/sdb"`},
			{`{"command": "db", "work_dir": "/srv/db"}`, paths, `uses "/srv/db" of the host`},
		},
		"somebody-elses": {
			{`{"image": "x", "args": ["/data"]}`, none, ""},
			{`{"Volumes": ["/srv/db:/data"]}`, paths, `"/srv/db"`},
			{`{"volumes": ["db:/data"]}`, paths, `"db"`},
			{`{"container": [{"spec": [{"mounts": [{"source": "/srv/db"}]}]}]}`, paths, `"/srv/db"`},
			{`{"privileged": 1}`, privileges, "is privileged"},
			{`{"network_mode": "host"}`, ports, "network of the host"},
			{`{"ports": ["8080:80"]}`, ports, "fixed port 8080"},
			{`{"ports": ["127.0.0.1:8080:80/tcp"]}`, ports, "fixed port 8080"},
			{`{"ports": ["http"]}`, none, ""},
			{`{"chroot": "/srv/root"}`, paths, `"/srv/root"`},
			{`{"devices": ["/dev/sda"]}`, privileges, "devices"},
		},
	} {
		for _, c := range cases {
			group := objectOf(t, `{"Tasks": [{"Name": "db", "Driver": "`+driver+`", "Config": `+c.config+`}]}`)
			why := notCopied(group, nil)
			if c.needs == none {
				if why != "" {
					t.Errorf("%s %s: %s", driver, c.config, why)
				}
				continue
			}
			if !strings.Contains(why, `task "db"`) || !strings.Contains(why, c.text) || !strings.Contains(why, `allow = ["`+string(c.needs)+`"]`) {
				t.Errorf("%s %s: %q, want %q and %s", driver, c.config, why, c.text, c.needs)
			}
			if why := notCopied(group, []performance.Permission{c.needs}); why != "" {
				t.Errorf("%s %s, allowed %s: %s", driver, c.config, c.needs, why)
			}
		}
	}
}

// Every key of a driver has a rule.
func TestDriverKeysHaveRules(t *testing.T) {
	t.Parallel()
	for driver, keys := range driverKeys {
		for _, key := range keys {
			if _, ok := configRules[key]; !ok {
				t.Errorf("%s: %s has no rule", driver, key)
			}
		}
	}
}

func TestCopyRulesOfGroups(t *testing.T) {
	t.Parallel()
	const task = `"Name": "db", "Driver": "exec"`
	for name, c := range map[string]struct {
		group string
		needs performance.Permission
		text  string
	}{
		"nothing":            {`{"Tasks": [{` + task + `}]}`, "", ""},
		"prestart":           {`{"Tasks": [{` + task + `}, {"Name": "migrate", "Driver": "exec", "Lifecycle": {"Hook": "prestart"}}]}`, performance.AllowPrestart, `task "migrate" runs before`},
		"prestart sidecar":   {`{"Tasks": [{` + task + `}, {"Name": "logs", "Driver": "exec", "Lifecycle": {"Hook": "prestart", "Sidecar": true}}]}`, "", ""},
		"poststop":           {`{"Tasks": [{` + task + `}, {"Name": "end", "Driver": "docker", "Config": {"privileged": true}, "Lifecycle": {"Hook": "poststop"}}]}`, performance.AllowPrivileges, `task "end"`},
		"vault":              {`{"Tasks": [{` + task + `, "Vault": {"Role": "db"}}]}`, performance.AllowSecrets, "Vault token"},
		"consul":             {`{"Tasks": [{` + task + `, "Consul": {"Namespace": "x"}}]}`, performance.AllowSecrets, "Consul token"},
		"template secret":    {`{"Tasks": [{` + task + `, "Templates": [{"EmbeddedTmpl": "{{ with secret \"db/creds\" }}x{{ end }}"}]}]}`, performance.AllowSecrets, "reads secret"},
		"template variable":  {`{"Tasks": [{` + task + `, "Templates": [{"EmbeddedTmpl": "{{- $v := nomadVar \"nomad/jobs/db\" -}}"}]}]}`, performance.AllowSecrets, "reads nomadVar"},
		"template service":   {`{"Tasks": [{` + task + `, "Templates": [{"EmbeddedTmpl": "{{range nomadService \"db\"}}{{end}}"}]}]}`, performance.AllowSecrets, "reads nomadService"},
		"template key":       {`{"Tasks": [{` + task + `, "Templates": [{"EmbeddedTmpl": "[[key \"db/url\"]]", "LeftDelim": "[[", "RightDelim": "]]"}]}]}`, performance.AllowSecrets, "reads key"},
		"template file":      {`{"Tasks": [{` + task + `, "Templates": [{"SourcePath": "local/x.tpl"}]}]}`, performance.AllowSecrets, `"local/x.tpl"`},
		"template plain":     {`{"Tasks": [{` + task + `, "Templates": [{"EmbeddedTmpl": "the key {{ env \"A\" }} {{ range $key, $v := .service }}{{ end }} secret"}]}]}`, "", ""},
		"identity":           {`{"Tasks": [{` + task + `, "Identity": {"Name": "default", "Env": true}}]}`, performance.AllowSecrets, "workload identity"},
		"identity unseen":    {`{"Tasks": [{` + task + `, "Identity": {"Name": "default", "Env": false, "File": false}, "Identities": [{"Name": "vault_default", "File": true}]}]}`, "", ""},
		"secret":             {`{"Tasks": [{` + task + `, "Secrets": [{"Name": "x", "Provider": "nomad"}]}]}`, performance.AllowSecrets, "given secrets"},
		"fixed port":         {`{"Networks": [{"ReservedPorts": [{"Label": "db", "Value": 6379}]}], "Tasks": [{` + task + `, "Config": {"command": "db"}}]}`, performance.AllowHostPorts, "fixed port 6379"},
		"fixed port written": {`{"Networks": [{"ReservedPorts": [{"Label": "db", "Value": 6379}]}], "Tasks": [{` + task + `, "Config": {"command": "db", "args": ["-p", ":6379", "${NOMAD_PORT_db}"]}}]}`, performance.AllowHostPorts, "fixed port 6379"},
		"fixed port told":    {`{"Networks": [{"ReservedPorts": [{"Label": "my-db", "Value": 6379}]}], "Tasks": [{` + task + `, "Config": {"command": "db", "args": ["-p", "${NOMAD_PORT_my_db}"]}}]}`, "", ""},
		"fixed port inside":  {`{"Networks": [{"Mode": "bridge", "ReservedPorts": [{"Label": "db", "Value": 6379}]}], "Tasks": [{` + task + `, "Config": {"command": "db"}}]}`, "", ""},
		"path in variable":   {`{"Tasks": [{"Name": "db", "Driver": "raw_exec", "Env": {"DATA": "/srv/db", "PATH": "/home/x/bin"}}]}`, performance.AllowHostPaths, `"/srv/db" of the host by its variable "DATA"`},
	} {
		allowed := []performance.Permission{}
		if name == "poststop" { // it is left out else, and cannot do harm
			if why := notCopied(objectOf(t, c.group), nil); why != "" {
				t.Errorf("%s: %s", name, why)
			}
			allowed = append(allowed, performance.AllowPoststop)
		}
		group := objectOf(t, c.group)
		why := notCopied(group, allowed)
		if c.needs == "" {
			if why != "" {
				t.Errorf("%s: %s", name, why)
			}
			continue
		}
		if !strings.Contains(why, c.text) || !strings.Contains(why, `"`+string(c.needs)+`"`) {
			t.Errorf("%s: %q, want %q and %s", name, why, c.text, c.needs)
		}
		if why := notCopied(group, append(allowed, c.needs)); why != "" {
			t.Errorf("%s, allowed: %s", name, why)
		}
	}
}

// A volume that only one may use has no permission: it cannot be used twice.
func TestVolumesThatCannotBeCopied(t *testing.T) {
	t.Parallel()
	for name, volume := range map[string]object{
		"sticky":        {"Type": "host", "Sticky": true, "ReadOnly": true},
		"csi":           {"Type": "csi", "ReadOnly": false},
		"single writer": {"Type": "host", "AccessMode": "single-node-single-writer"},
	} {
		job, r := rawJob(t), labRequestForTest()
		r.Workload.Spec.Profile.Allow = performance.Permissions()
		job.objects("TaskGroups")[0]["Volumes"] = map[string]any{"data": map[string]any(volume)}
		if _, err := labJob(job, r, DefaultOwner); !errors.Is(err, ErrNotCopied) || !strings.Contains(err.Error(), "skip = true") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The last check is where the copy is made: whoever asked, it is not without leave.
func TestNoCopyWithoutLeave(t *testing.T) {
	t.Parallel()
	r := labRequestForTest()
	r.Workload.Spec.Profile.Allow = nil
	if _, err := labJob(rawJob(t), r, DefaultOwner); !errors.Is(err, ErrNotCopied) || !strings.Contains(err.Error(), `task "wait" runs before the others`) {
		t.Errorf("a prestart task: %v", err)
	}
}

// A copy is the last in line and the first to go, and has none of the tasks that run once
// after the others.
func TestACopyHasTheLowestPriority(t *testing.T) {
	t.Parallel()
	user, r := rawJob(t), labRequestForTest()
	user["Priority"] = json.Number("90")
	group := user.objects("TaskGroups")[0]
	group.setList("Tasks", append(group.objects("Tasks"),
		objectOf(t, `{"Name": "announce", "Driver": "exec", "Lifecycle": {"Hook": "poststart"}}`),
		objectOf(t, `{"Name": "report", "Driver": "exec", "Lifecycle": {"Hook": "poststop"}}`)))
	names := func() []string {
		out, err := labJob(user, r, DefaultOwner)
		if err != nil {
			t.Fatal(err)
		}
		if got := out.number("Priority"); got != 1 {
			t.Errorf("priority %d", got)
		}
		var names []string
		for _, task := range out.objects("TaskGroups")[0].objects("Tasks") {
			names = append(names, task.text("Name"))
		}
		return names
	}
	if got := names(); !slices.Equal(got, []string{"wait", "nginx", "logs", labTask}) {
		t.Errorf("tasks %v", got)
	}
	r.Workload.Spec.Profile.Allow = performance.Permissions()
	if got := names(); !slices.Equal(got, []string{"wait", "nginx", "logs", "announce", "report", labTask}) {
		t.Errorf("tasks %v where all is allowed", got)
	}
}

// A sentence stays one, however much a job has and whatever it calls it.
func TestWhyNotCopiedIsBounded(t *testing.T) {
	t.Parallel()
	var binds []string
	for range 500 {
		binds = append(binds, `"/srv/`+strings.Repeat("x", 40+len(binds))+`\u0000\n:/data"`)
	}
	why := notCopied(objectOf(t, `{"Tasks": [{"Name": "db", "Driver": "docker", "Config": {"volumes": [`+strings.Join(binds, ",")+`]}}]}`), nil)
	if len(why) > 700 || strings.ContainsAny(why, "\x00\n") || !strings.Contains(why, " further reasons;") {
		t.Errorf("%d bytes: %q", len(why), why)
	}
}
