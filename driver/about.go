package driver

import "github.com/nomad-placer/nomad-placer/driver/protocol"

// Identity of the plugin.
const (
	PluginName    = "ibench"
	PluginVersion = "0.1.0"
	// pluginAPIVersion is the version of Nomad's driver interface.
	pluginAPIVersion = "v0.1.0"
)

// pluginSchema is the configuration in the agent's file:
//
//	plugin "nomad-driver-ibench" { config { … } }
var pluginSchema = protocol.NewObject(map[string]*protocol.Spec{
	"enabled":           withDefault("enabled", "bool", "true"),
	"calibration_file":  withDefault("calibration_file", "string", `"/var/lib/nomad-driver-ibench/calibration.json"`),
	"calibrate":         withDefault("calibrate", "bool", "false"),
	"kill_switch":       withDefault("kill_switch", "string", `"/run/nomad-driver-ibench/stop"`),
	"max_duration":      withDefault("max_duration", "string", `"1h"`),
	"allow":             protocol.NewAttr("allow", "list(string)", false),
	"signers":           protocol.NewAttr("signers", "list(string)", false),
	"sources":           protocol.NewAttr("sources", "list(string)", false),
	"storage_dir":       withDefault("storage_dir", "string", `""`),
	"storage_max_mb":    withDefault("storage_max_mb", "number", "1024"),
	"peers":             protocol.NewAttr("peers", "list(string)", false),
	"memory_reserve_mb": withDefault("memory_reserve_mb", "number", "512"),
	"disk_reserve_mb":   withDefault("disk_reserve_mb", "number", "1024"),
	"disk_used_percent": withDefault("disk_used_percent", "number", "80"),
	"metrics_address":   withDefault("metrics_address", "string", `""`),
	"config_version":    withDefault("config_version", "number", "1"),
	"runtime_dir":       withDefault("runtime_dir", "string", `"/run/nomad-driver-ibench"`),
})

// taskSchema is the configuration of a task: kernels, a profiling run, pairs, a
// calibration, a transfer, or traffic.
// Numbers are "any number" to Nomad and may arrive as text: see number.
var taskSchema = protocol.NewObject(map[string]*protocol.Spec{
	"kernel": protocol.NewBlockList("kernel", protocol.NewObject(map[string]*protocol.Spec{
		"source":    protocol.NewAttr("source", "string", true),
		"intensity": protocol.NewAttr("intensity", "number", false),
		"path":      protocol.NewAttr("path", "string", false),
		"peer":      protocol.NewAttr("peer", "string", false),
		"variant":   protocol.NewAttr("variant", "string", false),
		"duration":  protocol.NewAttr("duration", "string", false),
		"max_bytes": protocol.NewAttr("max_bytes", "number", false),
		"ramp": protocol.NewBlock("ramp", false, protocol.NewObject(map[string]*protocol.Spec{
			"from":  protocol.NewAttr("from", "number", true),
			"to":    protocol.NewAttr("to", "number", true),
			"step":  withDefault("step", "number", "5"),
			"dwell": withDefault("dwell", "string", `"1s"`),
		})),
	})),
	"profile": protocol.NewBlock("profile", false, protocol.NewObject(map[string]*protocol.Spec{
		"request":   protocol.NewAttr("request", "string", true),
		"signature": protocol.NewAttr("signature", "string", false),
	})),
	"pairs": protocol.NewBlock("pairs", false, protocol.NewObject(map[string]*protocol.Spec{
		"request": protocol.NewAttr("request", "string", true),
	})),
	"calibrate": protocol.NewBlock("calibrate", false, protocol.NewObject(map[string]*protocol.Spec{
		"seconds": withDefault("seconds", "number", "0"),
	})),
	"traffic": protocol.NewBlock("traffic", false, protocol.NewObject(map[string]*protocol.Spec{
		"request": protocol.NewAttr("request", "string", true),
	})),
	"lend": protocol.NewBlock("lend", false, protocol.NewObject(map[string]*protocol.Spec{
		"allocation": protocol.NewAttr("allocation", "string", true),
		"task":       protocol.NewAttr("task", "string", true),
		"cpu_mhz":    withDefault("cpu_mhz", "number", "0"),
		"time_slice": protocol.NewAttr("time_slice", "string", false),
		"signature":  protocol.NewAttr("signature", "string", false),
	})),
	"domain":         withDefault("domain", "string", `"auto"`),
	"target_task":    protocol.NewAttr("target_task", "string", false),
	"max_duration":   protocol.NewAttr("max_duration", "string", false),
	"allow_pair":     withDefault("allow_pair", "bool", "false"),
	"seed":           withDefault("seed", "number", "1"),
	"config_version": withDefault("config_version", "number", "1"),
})

// capabilities: signals and virtual commands change the intensity; there is no
// file system to isolate. Network modes other than the host's are accepted so
// that a profiled group may have any.
var capabilities = &protocol.DriverCapabilities{
	SendSignals: true,
	Exec:        true,
	FsIsolation: protocol.DriverCapabilities_NONE,
	NetworkIsolationModes: []protocol.NetworkIsolationSpec_NetworkIsolationMode{
		protocol.NetworkIsolationSpec_HOST,
		protocol.NetworkIsolationSpec_GROUP,
	},
	MountConfigs: protocol.DriverCapabilities_NO_MOUNTS,
}

func withDefault(name, kind, literal string) *protocol.Spec {
	return protocol.NewDefault(protocol.NewAttr(name, kind, false), protocol.NewLiteral(literal))
}
