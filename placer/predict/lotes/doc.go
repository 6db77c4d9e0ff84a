// Package lotes plans which mix of job classes every machine should run in the
// long term, and says how far machines are from it (LoTES: Tran, Zhang, Down and
// Beck 2016). The policy and the admission controller of that name dispatch by it.
package lotes
