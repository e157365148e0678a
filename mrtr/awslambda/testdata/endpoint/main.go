// Command endpoint is an endpoint that offers the tools of the contract.
package main

import (
	"github.com/mrtr-lambda/mrtr-lambda/conformance/fixture"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/awslambda"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

func main() { awslambda.Main(newServer) }

func newServer() *mrtr.Server {
	srv := mrtr.NewServer(protocol.Implementation{Name: "endpoint", Version: "1"}, nil)
	fixture.Register(srv)
	return srv
}
