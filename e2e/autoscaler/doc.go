// Package autoscaler pins nomad-autoscaler (MPL-2.0), which tests run as it was released, with the
// versions of its own go.mod. It is a module of its own, so that nothing of it is required by the
// product's. `make autoscaler` builds it.
package autoscaler
