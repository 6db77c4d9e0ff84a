package hcl

import (
	"fmt"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// TrafficConfig says what is known of the network traffic between jobs.
type TrafficConfig struct {
	Tables   string `json:"tables,omitempty"` // folder of captured tables; empty: nothing is known
	RackMeta string `json:"rack_meta"`        // key of a node's meta that names its rack
	Near     bool   `json:"near"`             // groups that say nothing are placed near those they exchange most with
	// LinkMbitPerSec is what the network link of a node carries in each direction; 0: not known.
	LinkMbitPerSec float64 `json:"link_mbit_per_sec,omitempty"`
}

// maxLinkMbit is 800 Gbit/s, the fastest link that there is.
const maxLinkMbit = 800_000

func trafficSchema(d TrafficConfig) block {
	return block{
		name: "traffic", summary: "what is known of the network traffic between jobs, and whether it decides on racks",
		attributes: []attribute{
			{
				name: "tables", kind: kindText, byDefault: "none", example: `"/var/lib/traffic"`,
				summary: "a folder with the tables that `nomad-placer traffic capture` wrote on the nodes; the agent reads it every five minutes and shows it as a page",
			},
			{
				name: "rack_meta", kind: kindText, byDefault: `"` + d.RackMeta + `"`, example: `"rack"`,
				summary: "the key of a node's meta that names its rack, for groups that are placed near others",
			},
			{
				name: "near", kind: kindTruth, byDefault: "false", example: "true",
				summary: "whether a new group that names no `near` of its own is placed near the groups of its namespace that it exchanged most with in the last day",
			},
			{
				name: "link_mbit_per_sec", kind: kindNumber, bounds: bounds{0, maxLinkMbit, true}, unit: "Mbit/s", byDefault: "not known", example: "10000",
				summary: "what the network link of a node carries; what a job causes on the network (`net_bw`) is then the part of it that one allocation is seen to take, unless its own profile says it",
			},
		},
	}
}

// trafficConfig reads the block over the defaults.
func (s *source) trafficConfig(r *reading, c TrafficConfig) TrafficConfig {
	setText(&c.Tables, r, "tables")
	setText(&c.RackMeta, r, "rack_meta")
	c.Near = r.truth("near")
	if r.has("link_mbit_per_sec") {
		c.LinkMbitPerSec = r.number("link_mbit_per_sec")
	}
	if strings.ContainsAny(c.RackMeta, "${} \t") {
		s.fail(r.where("rack_meta"), message{
			summary: fmt.Sprintf("rack_meta %q is not a key of a node's meta", shorten(c.RackMeta)),
			hint:    `write the key alone: for ${meta.` + cluster.DefaultRackMeta + `} it is "` + cluster.DefaultRackMeta + `"`,
		})
	}
	if c.Near && c.Tables == "" {
		s.fail(r.where("near"), message{
			summary: "near is true, and there are no tables to tell who exchanges how much with whom",
			hint:    `add tables = "/var/lib/traffic", the folder that nomad-placer traffic capture writes to, or let jobs name their peers by near of their performance block`,
		})
	}
	if r.has("link_mbit_per_sec") && c.Tables == "" {
		s.fail(r.where("link_mbit_per_sec"), message{
			summary: "link_mbit_per_sec is set, and there are no tables to tell what jobs exchange",
			hint:    `add tables = "/var/lib/traffic", the folder that nomad-placer traffic capture writes to`,
		})
	}
	return c
}
