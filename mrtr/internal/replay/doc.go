// Package replay keeps the log of a flow: which questions have been asked and
// answered, which steps have run, in order. A handler runs again from the top
// each round; the log gives it what it already knows and says what comes next.
//
// The rules are written down in mrtr/requeststate/SPEC.md, "The body: the
// engine's log". The package does no I/O, reads no clock and hashes nothing:
// digests come in as bytes.
package replay
