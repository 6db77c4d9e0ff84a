// Package input makes the files that the applications of the training set work
// on. All of them follow from fixed seeds, so that two machines measure the same
// work; they are statistically the same from end to end, so that two windows of
// a measurement do too. Where a program makes an input (an index, a database),
// it is made by the version that reads it.
package input
