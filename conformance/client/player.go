package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// player is a session with one of the suite's servers.
type player struct {
	session *mcp.ClientSession
	tools   []*mcp.Tool
	given   *given
}

// connect opens a session in the given revision, empty for the SDK's choice, and
// lists the tools. The caller must close the session.
func connect(ctx context.Context, url, revision string, g *given, signer auth.OAuthHandler) (*player, error) {
	c := client.New(&mcp.Implementation{Name: "mrtr-conformance-client", Version: "1.0.0"}, handlers, nil)
	t := client.Transport(&mcp.StreamableClientTransport{Endpoint: url, OAuthHandler: signer})
	session, err := c.Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	list, err := session.ListTools(ctx, nil)
	if err == nil && revision != "" && session.InitializeResult().ProtocolVersion != revision {
		err = errors.New("the session is of another revision")
	}
	if err != nil {
		_ = session.Close()
		return nil, fmt.Errorf("listing the tools: %w", err)
	}
	return &player{session, list.Tools, g}, nil
}

// call calls a tool to its end. A result that is an error is one here too.
func (p *player) call(ctx context.Context, tool string, args any) error {
	out, err := client.CallToolWithInputs(ctx, p.session, tool, args, answer, nil)
	switch {
	case err != nil:
		return fmt.Errorf("calling %s: %w", tool, err)
	case out.Result == nil || out.Result.IsError:
		return fmt.Errorf("calling %s: no result, or an error in its place", tool)
	}
	return nil
}

// answer answers every question.
func answer(ctx context.Context, q client.Question) (jsontext.Value, error) {
	return handlers.HandleServerRequest(ctx, q)
}

// handlers answer every kind of question; forms with their defaults.
var handlers = &client.Handlers{
	Form: func(context.Context, *client.FormQuestion) (protocol.ElicitResult, error) {
		return protocol.ElicitResult{Action: protocol.ElicitAccept, Content: jsontext.Value("{}")}, nil
	},
	URL: func(context.Context, *client.URLQuestion) (protocol.ElicitAction, error) {
		return protocol.ElicitDecline, nil
	},
	Sampling: func(context.Context, *protocol.CreateMessageParams) (*protocol.CreateMessageResult, error) {
		return &protocol.CreateMessageResult{Role: protocol.RoleAssistant, Model: "none", Content: protocol.SamplingContent{protocol.Text("Hi")}}, nil
	},
	Roots: func(context.Context) ([]protocol.Root, error) {
		return []protocol.Root{{URI: "file:///a"}}, nil
	},
}
