// Package traffic holds the end-to-end tests of the network as a resource (build tag e2e; make
// e2e): a real Nomad with nodes in two racks, whose tasks talk to each other in network
// namespaces. What they exchange is captured, decides where groups go, and is generated again.
package traffic
