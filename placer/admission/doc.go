// Package admission decides when a workload that has been profiled may be
// placed, and among which nodes: at once, first come first served, by class of
// quality (ARQ), or after an estimate of the wait (Tarcil).
package admission
