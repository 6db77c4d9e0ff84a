// Package replay sends the traffic of a model between machines: each plays the part of one
// server (network.Model.Sender), over TCP, to peers that play the others.
//
// What is sent when is drawn by the model's own generator, a stretch at a time, on the
// clock of the week. Only generators of the same key answer each other: a sender that
// does not get the answer sends nothing. A cap bounds what a machine sends; what is over
// it is not sent later but counted as left out, so that load never piles up.
//
// Source: Delimitrou 2015, appendix C (ECHO), which generates such traffic and does not
// say by which means. A message that answers a request is sent without being asked for:
// sizes, times and directions of the bytes are those of the model, who begins is not.
package replay
