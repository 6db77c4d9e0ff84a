package cluster

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// serverName is the name of the one server agent.
const serverName = "server"

// deniedFingerprints look for things a loopback cluster does not have; the
// cloud ones poll link-local addresses and can stop an agent from starting.
var deniedFingerprints = []string{
	"env_aws", "env_gce", "env_azure", "env_digitalocean", "cni", "consul", "vault",
}

// deniedDrivers are not part of the tests and slow a client's start down.
var deniedDrivers = []string{"docker", "java", "qemu"}

// smallChroot lists what the programs of a Debian-like base system need: not
// all of /lib, whose tens of thousands of files take seconds to link.
func smallChroot() map[string]string {
	chroot := map[string]string{}
	for _, pattern := range []string{
		"/bin", "/lib64", "/lib/*-linux-gnu*", "/usr/lib/*-linux-gnu*",
		"/etc/passwd", "/etc/ld.so.cache", "/etc/nsswitch.conf",
	} {
		// The only error of Glob is a malformed pattern.
		found, _ := filepath.Glob(pattern)
		for _, path := range found {
			chroot[path] = path
		}
	}
	return chroot
}

// hclText writes HCL blocks, indented.
type hclText struct {
	b     strings.Builder
	depth int
}

func (h *hclText) line(format string, args ...any) {
	h.b.WriteString(strings.Repeat("  ", h.depth))
	fmt.Fprintf(&h.b, format, args...)
	h.b.WriteByte('\n')
}

// block writes a block.
func (h *hclText) block(header string, body func()) {
	h.line("%s {", header)
	h.depth++
	body()
	h.depth--
	h.line("}")
}

// stringMap writes a map in key order, or nothing. It is an attribute, because
// only there may keys be quoted.
func (h *hclText) stringMap(name string, m map[string]string) {
	if len(m) == 0 {
		return
	}
	h.block(name+" =", func() {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			h.line("%q = %q", k, m[k])
		}
	})
}

// preferredGrace is how late a client's heartbeat may be where the cluster has its CPU
// time first. The kernel's own threads are starved then now and then: one work queue got
// no CPU for 40 seconds (dmesg: "workqueue lockup"), in which the server lost two clients
// and their allocations.
const preferredGrace = "2m"

// serverHCL is the agent file of the server.
func serverHCL(c Config, dataDir string) string {
	h := &hclText{}
	h.common(c, 0, serverName, dataDir)
	h.block("server", func() {
		h.line("enabled = true")
		h.line("bootstrap_expect = 1")
		if c.Preferred {
			h.line("heartbeat_grace = %q", preferredGrace)
		}
	})
	h.block("ui", func() {
		h.line("enabled = true")
		if len(c.ImageSources) > 0 {
			h.block("content_security_policy", func() {
				h.line("img_src = [%s]", quotedList(append([]string{"'self'", "data:"}, c.ImageSources...)))
			})
		}
	})
	return h.b.String()
}

// clientHCL is the agent file of client i.
func clientHCL(c Config, i int, dataDir string) string {
	h := &hclText{}
	client := c.Clients[i]
	h.common(c, i+1, client.Name, dataDir)
	if client.Datacenter != "" {
		h.line("datacenter = %q", client.Datacenter)
	}
	if c.PluginDir != "" {
		h.line("plugin_dir = %q", c.PluginDir)
	}
	h.block("client", func() { h.clientBlock(c, i) })
	h.block(`plugin "raw_exec"`, func() {
		h.block("config", func() { h.line("enabled = true") })
	})
	return h.b.String()
}

func (h *hclText) clientBlock(c Config, i int) {
	client := c.Clients[i]
	h.line("enabled = true")
	h.line("servers = [%q]", loopback(c.rpcPort()))
	h.line("network_interface = %q", "lo")
	h.line("min_dynamic_port = %d", c.dynamicPort(i))
	h.line("max_dynamic_port = %d", c.dynamicPort(i+1)-1)
	// Under cgroup v1 a client does not look at the CPU set it lives in.
	h.optionalText("reservable_cores", formatCPUs(client.CPUs))
	h.optionalText("node_class", client.Class)
	h.optionalText("node_pool", client.Pool)
	h.optionalNumber("cpu_total_compute", client.CPUMHz)
	h.optionalNumber("memory_total_mb", client.MemoryMB)
	h.stringMap("meta", client.Meta)
	h.stringMap("options", map[string]string{
		"fingerprint.denylist": strings.Join(deniedFingerprints, ","),
		"driver.denylist":      strings.Join(deniedDrivers, ","),
	})
	chroot := client.ChrootEnv
	if chroot == nil {
		chroot = smallChroot()
	}
	h.stringMap("chroot_env", chroot)
	for _, name := range slices.Sorted(maps.Keys(client.HostVolumes)) {
		h.block("host_volume "+strconv.Quote(name), func() { h.line("path = %q", client.HostVolumes[name]) })
	}
}

// common writes what server and clients share.
func (h *hclText) common(c Config, agent int, name, dataDir string) {
	http := c.httpPort(agent)
	h.line("name = %q", name)
	h.line("data_dir = %q", dataDir)
	h.line("bind_addr = %q", "127.0.0.1")
	h.line("log_level = %q", c.LogLevel)
	h.line("disable_update_check = true")
	h.line("disable_anonymous_signature = true")
	h.block("ports", func() {
		h.line("http = %d", http)
		h.line("rpc = %d", http+1)
		h.line("serf = %d", http+2)
	})
	// Without it the agent refuses to advertise a loopback address.
	h.block("advertise", func() {
		h.line("http = %q", "127.0.0.1")
		if agent == 0 {
			h.line("rpc = %q", loopback(c.rpcPort()))
		} else {
			h.line("rpc = %q", "127.0.0.1")
		}
		h.line("serf = %q", "127.0.0.1")
	})
	h.block("acl", func() { h.line("enabled = %t", c.ACL) })
	if c.TLS {
		h.block("tls", func() { h.tlsBlock(c, agent) })
	}
	// Allocation metrics feed the charts of the web UI.
	h.block("telemetry", func() {
		h.line("publish_allocation_metrics = true")
		h.line("publish_node_metrics = true")
		h.line("prometheus_metrics = true")
		h.line("collection_interval = %q", "1s")
	})
	// Tests and dashboards open many connections from one address.
	h.block("limits", func() {
		h.line("http_max_conns_per_client = 0")
		h.line("rpc_max_conns_per_client = 0")
	})
	// Services are not registered anywhere but in Nomad itself.
	h.block("consul", func() {
		h.line("auto_advertise = false")
		h.line("server_auto_join = false")
		h.line("client_auto_join = false")
	})
}

// tlsBlock has every check of certificates on.
func (h *hclText) tlsBlock(c Config, agent int) {
	role := clientRole
	if agent == 0 {
		role = serverRole
	}
	h.line("http = true")
	h.line("rpc = true")
	h.line("ca_file = %q", c.authorityFile())
	h.line("cert_file = %q", c.certificate(role).Cert)
	h.line("key_file = %q", c.certificate(role).Key)
	h.line("verify_server_hostname = true")
	h.line("verify_https_client = true")
}

func (h *hclText) optionalText(key, value string) {
	if value != "" {
		h.line("%s = %q", key, value)
	}
}

func (h *hclText) optionalNumber(key string, value int) {
	if value != 0 {
		h.line("%s = %d", key, value)
	}
}

func quotedList(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = strconv.Quote(v)
	}
	return strings.Join(quoted, ", ")
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
