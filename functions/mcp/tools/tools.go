// Package tools holds what the endpoint offers. A fork replaces the tools here
// by its own.
package tools

import (
	"github.com/mrtr-lambda/mrtr-lambda/conformance/fixture"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// NewServer returns the endpoint's server with its tools.
func NewServer() *mrtr.Server {
	srv := mrtr.NewServer(protocol.Implementation{Name: "mrtr-lambda", Title: "MRTR on Lambda", Version: "0.1.0"}, nil)
	fixture.Register(srv)
	Refunds{Book: NewMemoryBook()}.Register(srv)
	return srv
}
