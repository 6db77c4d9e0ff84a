// Package e2e holds the end-to-end tests on a real Nomad. They have the build
// tag e2e, need root, and run with make e2e.
package e2e
