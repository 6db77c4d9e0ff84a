// Package capture reads who of a node exchanges how much with whom, from what every
// Linux counts: no program is loaded into the kernel, and no packet is looked at.
//
// Peers come from socket diagnostics (sock_diag), in the host's network namespace and in
// that of every allocation: the kernel counts the bytes of each TCP connection, and sends
// a notice with the last counts when a connection ends, so that connections between
// two readings are counted too. What the interfaces counted (/proc/net/dev) is read
// for comparison: it has headers, retransmissions and other protocols in it.
//
// Addresses are mapped to names by a Directory and then forgotten: a Flow has names only.
//
// Both ends of a connection count it. It is reported by the end that began it, for only
// there the peer's address is the one that the peer is known by; the other end
// reports connections from outside of the cluster. An end that listens on the local port
// did not begin.
//
// Reading needs CAP_SYS_ADMIN (to enter namespaces) and CAP_NET_ADMIN (to be told of
// ended connections).
//
// # Differences from the text
//
// Delimitrou 2015 does not say how the traffic was captured (§C.4 has samples of
// 5 minutes). Bytes are those of the payload; a byte more is counted for the end of
// a stream that was received. UDP has no counts per peer: it is in the interfaces'
// counts only.
package capture
