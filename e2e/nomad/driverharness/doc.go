// Package driverharness runs nomad-driver-ibench under Nomad's own test harness
// for task drivers. The harness is licensed under the BUSL, so it lives in this
// test-only module and is never linked into the product: the plugin is started
// as the agent starts it, as a process of its own.
package driverharness
