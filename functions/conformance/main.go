// Command conformance is the server that the official conformance suite judges:
// every tool, prompt and resource that the suite names, but for the tasks
// extension, which is not offered. Like the endpoint it is an AWS Lambda
// function, or a local server where there is no Lambda.
package main

import (
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/awslambda"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

func main() { awslambda.Main(newServer) }

func newServer() *mrtr.Server {
	s := mrtr.NewServer(protocol.Implementation{Name: "mrtr-conformance", Title: "MRTR conformance fixture", Version: "0.1.0"}, nil)
	addContentTools(s) // first: the suite calls the first tool without arguments
	addReportingTools(s)
	addSchemaTools(s)
	addAskingTools(s)
	addPrompts(s)
	addResources(s)
	return s
}
