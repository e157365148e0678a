// Package peers measures this module beside other Go servers, in a module of
// its own so that they never enter an importer's build. All do the same call,
// in one process and one run:
//
//	go test -run '^$' -bench . -benchmem ./...
//
// Besides the time on the clock every benchmark reports cpu-ns/op, the
// processor time of the whole process: servers that use further goroutines, and
// the garbage collector, pay for them there.
package peers
