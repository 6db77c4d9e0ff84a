// Package storetest is the conformance suite every store runs.
//
// # Differences from the paper
//
// No paper describes it; it holds the stores to what package store promises.
package storetest
