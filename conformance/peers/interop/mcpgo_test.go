package interop

import (
	"context"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// runMCPGo is mcp-go's client.
func runMCPGo(ctx context.Context, url, revision string, names []string) (*report, error) {
	conn, err := transport.NewStreamableHTTP(url)
	if err != nil {
		return nil, err
	}
	options := []client.ClientOption{
		client.WithElicitationHandler(mcpGoPerson{}),
		client.WithSamplingHandler(mcpGoPerson{}),
		client.WithRootsHandler(mcpGoPerson{}),
	}
	if revision != "" {
		options = append(options, client.WithProtocolVersion(revision))
	}
	c := client.NewClient(conn, options...)
	defer c.Close()
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	var hello mcp.InitializeRequest
	hello.Params.ClientInfo = mcp.Implementation{Name: "interop", Version: "1.0.0"}
	if _, err := c.Initialize(ctx, hello); err != nil {
		return nil, err
	}

	list, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	rep := &report{Calls: map[string]outcome{}}
	for _, tool := range list.Tools {
		rep.Tools = append(rep.Tools, tool.Name)
	}
	for _, name := range names {
		var call mcp.CallToolRequest
		call.Params.Name, call.Params.Arguments = name, map[string]any{}
		res, err := c.CallTool(ctx, call)
		if err != nil {
			rep.Calls[name] = outcome{Error: err.Error()}
			continue
		}
		out := outcome{IsError: res.IsError}
		for _, content := range res.Content {
			if text, ok := content.(mcp.TextContent); ok {
				out.Text += text.Text
			}
		}
		rep.Calls[name] = out
	}
	return rep, nil
}

// mcpGoPerson answers what is asked.
type mcpGoPerson struct{}

func (mcpGoPerson) Elicit(_ context.Context, req mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{
		Action: mcp.ElicitationResponseActionAccept, Content: formAnswer(req.Params.RequestedSchema),
	}}, nil
}

func (mcpGoPerson) CreateMessage(context.Context, mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return &mcp.CreateMessageResult{
		SamplingMessage: mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: mcp.NewTextContent("Hi")}, Model: "none",
	}, nil
}

func (mcpGoPerson) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return &mcp.ListRootsResult{Roots: []mcp.Root{{URI: "file:///a"}}}, nil
}
