// Package autoscaler serves plugins of hashicorp/nomad-autoscaler: what it asks for the number of
// nodes that there are to be (APM), and what starts and ends them (target).
//
// The autoscaler starts a plugin as a child process and speaks gRPC with it, by go-plugin's
// handshake. It does so once: a plugin that ended is not started again before the autoscaler is.
// A plugin of an autoscaler that was killed would run on; one that is served here ends then.
package autoscaler
