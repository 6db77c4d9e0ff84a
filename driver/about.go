package driver

import (
	"github.com/hashicorp/nomad/plugins/drivers/proto"
	"github.com/hashicorp/nomad/plugins/shared/hclspec"
)

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
var pluginSchema = hclspec.NewObject(map[string]*hclspec.Spec{
	"enabled":           withDefault("enabled", "bool", "true"),
	"calibration_file":  withDefault("calibration_file", "string", `"/var/lib/nomad-driver-ibench/calibration.json"`),
	"calibrate":         withDefault("calibrate", "bool", "false"),
	"kill_switch":       withDefault("kill_switch", "string", `"/run/nomad-driver-ibench/stop"`),
	"max_duration":      withDefault("max_duration", "string", `"1h"`),
	"sources":           hclspec.NewAttr("sources", "list(string)", false),
	"storage_dir":       withDefault("storage_dir", "string", `""`),
	"memory_reserve_mb": withDefault("memory_reserve_mb", "number", "512"),
	"disk_reserve_mb":   withDefault("disk_reserve_mb", "number", "1024"),
	"metrics_address":   withDefault("metrics_address", "string", `""`),
	"config_version":    withDefault("config_version", "number", "1"),
	"runtime_dir":       withDefault("runtime_dir", "string", `"/run/nomad-driver-ibench"`),
})

// taskSchema is the configuration of a task: kernels, a profiling run, or a transfer.
// Numbers are "any number" to Nomad and may arrive as text: see number.
var taskSchema = hclspec.NewObject(map[string]*hclspec.Spec{
	"kernel": hclspec.NewBlockList("kernel", hclspec.NewObject(map[string]*hclspec.Spec{
		"source":    hclspec.NewAttr("source", "string", true),
		"intensity": hclspec.NewAttr("intensity", "number", false),
		"path":      hclspec.NewAttr("path", "string", false),
		"peer":      hclspec.NewAttr("peer", "string", false),
		"variant":   hclspec.NewAttr("variant", "string", false),
		"duration":  hclspec.NewAttr("duration", "string", false),
		"max_bytes": hclspec.NewAttr("max_bytes", "number", false),
		"ramp": hclspec.NewBlock("ramp", false, hclspec.NewObject(map[string]*hclspec.Spec{
			"from":  hclspec.NewAttr("from", "number", true),
			"to":    hclspec.NewAttr("to", "number", true),
			"step":  withDefault("step", "number", "5"),
			"dwell": withDefault("dwell", "string", `"1s"`),
		})),
	})),
	"profile": hclspec.NewBlock("profile", false, hclspec.NewObject(map[string]*hclspec.Spec{
		"request": hclspec.NewAttr("request", "string", true),
	})),
	"pairs": hclspec.NewBlock("pairs", false, hclspec.NewObject(map[string]*hclspec.Spec{
		"request": hclspec.NewAttr("request", "string", true),
	})),
	"lend": hclspec.NewBlock("lend", false, hclspec.NewObject(map[string]*hclspec.Spec{
		"allocation": hclspec.NewAttr("allocation", "string", true),
		"task":       hclspec.NewAttr("task", "string", true),
		"cpu_mhz":    withDefault("cpu_mhz", "number", "0"),
		"time_slice": hclspec.NewAttr("time_slice", "string", false),
	})),
	"domain":         withDefault("domain", "string", `"auto"`),
	"target_task":    hclspec.NewAttr("target_task", "string", false),
	"max_duration":   hclspec.NewAttr("max_duration", "string", false),
	"allow_pair":     withDefault("allow_pair", "bool", "false"),
	"seed":           withDefault("seed", "number", "1"),
	"config_version": withDefault("config_version", "number", "1"),
})

// capabilities: signals and virtual commands change the intensity; there is no
// file system to isolate. Network modes other than the host's are accepted so
// that a profiled group may have any.
var capabilities = &proto.DriverCapabilities{
	SendSignals: true,
	Exec:        true,
	FsIsolation: proto.DriverCapabilities_NONE,
	NetworkIsolationModes: []proto.NetworkIsolationSpec_NetworkIsolationMode{
		proto.NetworkIsolationSpec_HOST,
		proto.NetworkIsolationSpec_GROUP,
	},
	MountConfigs: proto.DriverCapabilities_NO_MOUNTS,
}

func withDefault(name, kind, literal string) *hclspec.Spec {
	return hclspec.NewDefault(hclspec.NewAttr(name, kind, false), hclspec.NewLiteral(literal))
}
