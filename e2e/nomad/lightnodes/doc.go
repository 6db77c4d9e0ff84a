// Command lightnodes joins many simulated nodes to a real Nomad server: each
// registers, heartbeats, takes its allocations and reports them running, or
// complete, over the server's own RPC, but runs nothing. A node costs some
// 50 kB here instead of a client's megabytes, so that one machine carries
// thousands.
//
//	lightnodes -server 127.0.0.1:4647 -spec nodes.json
//
// The spec is a list of templates (see template). What happens is written to
// the standard output, one JSON object a line (see event), and what is to happen is
// read from the standard input, one a line, too (see command). The program runs until
// it is interrupted.
//
// It uses packages of Nomad under the BUSL and is a tool of the tests: it lives
// in this test-only module and is never linked into the product.
package main
