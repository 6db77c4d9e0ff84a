// Package driver links none of the modules that go.mod requires.
package driver
