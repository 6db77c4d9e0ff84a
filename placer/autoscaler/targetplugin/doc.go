// Package targetplugin drives a target plugin of hashicorp/nomad-autoscaler, as the autoscaler does:
// it starts the plugin's program, shakes hands by go-plugin, and asks it by gRPC how many nodes of a
// type there are, and for another number of them.
//
//	absent or ended ─▶ started when it is needed next, after a pause that doubles
//	hangs           ─▶ its call ends after a while, and the program is ended
//
// # What holds at every moment
//
//   - A call ends with its context, at the latest after StatusWithin or ScaleWithin.
//   - The plugin does not get the agent's token: what it may do in Nomad is what its own
//     configuration gives it.
//
// # Differences from the autoscaler
//
// A plugin that ended is started again; the autoscaler never does. The nodes that are to go are
// named in the meta data of a request (MetaNodes), for plugins that look there; others go by their
// node_selector_strategy, which is empty_ignore_system where the operator does not say.
package targetplugin
