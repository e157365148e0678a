package kmstest

import (
	"slices"
	"time"
)

// Call is one request that the server read, answered or not.
type Call struct {
	Operation string // GenerateMac
	KeyID     string // as the request named it
	KeyARN    string // of the key found; empty: none
	Algorithm string
	Message   []byte
	Error     string // the error's code; empty: a MAC was returned
}

// Dropped is Call.Error of a request whose connection was closed.
const Dropped = "dropped"

// failure is an error reply.
type failure struct {
	status  int
	code    string
	message string
}

// fault is what happens to one request. A nil failure drops the connection.
type fault struct{ failure *failure }

// Throttle answers the next n requests with ThrottlingException. Faults queue
// up: each request takes the first one left.
func (s *Server) Throttle(n int) { s.Fail(n, 400, "ThrottlingException") }

// Fail answers the next n requests with an error of that HTTP status and code.
func (s *Server) Fail(n, status int, code string) {
	s.addFaults(n, fault{&failure{status, code, "injected by the test"}})
}

// Drop closes the connection of the next n requests without an answer.
func (s *Server) Drop(n int) { s.addFaults(n, fault{}) }

func (s *Server) addFaults(n int, f fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, slices.Repeat([]fault{f}, n)...)
}

// SetOutage makes every request's connection close without an answer, until it
// is set to false.
func (s *Server) SetOutage(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outage = on
}

// SetLatency sets how long each answer takes.
func (s *Server) SetLatency(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latency = d
}

// Calls returns a record of the requests so far, oldest first, the SDK's own
// retries among them.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Count returns the number of requests so far.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// Reset empties the record and drops the faults that are left.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls, s.faults, s.outage = nil, nil, false
}

// beginLocked takes the fault for a request, if there is one.
func (s *Server) beginLocked() (f fault, ok bool) {
	if s.outage {
		return fault{}, true
	}
	if len(s.faults) == 0 {
		return fault{}, false
	}
	f, s.faults = s.faults[0], s.faults[1:]
	return f, true
}
