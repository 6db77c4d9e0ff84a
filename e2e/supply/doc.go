// Package supply pins the programs that look at what a release is made of: which known
// vulnerabilities it has (govulncheck) and of what modules it consists (cyclonedx-gomod).
// It is a module of its own, so that nothing of them is required by the product's.
package supply
