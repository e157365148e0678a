package interop

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// runGoSDK is the official Go SDK's client.
func runGoSDK(ctx context.Context, url, revision string, names []string) (*report, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "interop", Version: "1.0.0"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: formAnswer(req.Params.RequestedSchema)}, nil
		},
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Content: &mcp.TextContent{Text: "Hi"}, Model: "none"}, nil
		},
	})
	client.AddRoots(&mcp.Root{URI: "file:///a"})

	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return nil, err
	}
	defer session.Close()

	list, err := session.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	rep := &report{Calls: map[string]outcome{}}
	for _, tool := range list.Tools {
		rep.Tools = append(rep.Tools, tool.Name)
	}
	for _, name := range names {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: map[string]any{}})
		if err != nil {
			rep.Calls[name] = outcome{Error: err.Error()}
			continue
		}
		out := outcome{IsError: res.IsError}
		for _, c := range res.Content {
			if text, ok := c.(*mcp.TextContent); ok {
				out.Text += text.Text
			}
		}
		rep.Calls[name] = out
	}
	return rep, nil
}
