// Package driver holds the end-to-end tests of the task driver on a real Nomad:
// one test and one file in e2e/jobs for each behaviour. They run with the build
// tag "e2e", as root.
package driver
