// Package client calls tools, prompts and resources that ask back: it answers
// the questions and retries until the server is done (MCP 2026-07-28, Multi
// Round-Trip Requests). It works over a session of the official Go SDK's
// client, whose own automatic loop it replaces.
//
//	c := client.New(&mcp.Implementation{Name: "demo", Version: "1"}, handlers, nil)
//	session, err := c.Connect(ctx, client.Transport(&mcp.StreamableClientTransport{Endpoint: url}), nil)
//	...
//	out, err := client.CallToolWithInputs(ctx, session, "book_trip", args, client.DefaultInputHandler(handlers), nil)
//
// [CallToolWithInputs], [GetPromptWithInputs] and [ReadResourceWithInputs] run
// the whole exchange. A [Flow] is the same exchange taken in steps: it can be
// written to a file between two rounds and go on in another process.
//
// The SDK's results keep neither a resultType that it does not know nor the
// members of a task, so results are read where they arrive: a session must be
// connected over what [Transport] returns.
//
// Everything from a server is checked before anyone is asked. A question that
// the client did not declare to take, of a method that it does not know, or
// that cannot be read ends the call with a [*QuestionError], and nothing is
// sent. Answers are held against their form before they are sent. Errors made
// here never hold a state, an argument or an answer; an error that the server
// sent holds the text that the server chose.
//
// A client cannot read a state and does not try to: this package depends on
// nothing that could.
package client
