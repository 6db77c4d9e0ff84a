// Command chaos breaks a real Nomad with nomad-placer on it, on and on, while users
// work with it, and then looks whether every promise was kept.
//
// # The cluster
//
// One Nomad server, two or three clients and a spare one, with access control, the agent as the system
// job that operators install (a replica on every client), the ibench driver, and the proxy in
// front. Clients reach the server, and the proxy Nomad's API, through a relay that can
// be cut or slowed for each of them; the clients' data is on file systems that can be full.
//
// # What happens to it
//
// Users submit services, batch jobs and parameterized jobs by each way there is, update,
// revert, stop and purge them and dispatch; an operator drains nodes. Meanwhile a
// schedule kills, freezes, cuts and fills. A kill can be aimed: the leading agent is
// frozen every few milliseconds until its log says that a job is in the step that is
// wanted, and is killed there.
//
// # What is checked
//
// All the time: no job is in the hold pool past its deadline while an agent could have
// released it. At the end: each job of the ledger is as its users asked last, once, and
// after it was removed nothing of ours is left.
package main
