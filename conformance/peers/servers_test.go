package peers

import (
	"context"
	"net/http"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	mcpgoserver "github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type greetInput struct {
	Name string `json:"name"`
}

// officialSDK serves greet with the official Go SDK: stateless, answers as
// plain JSON, the cheaper of its two ways.
func officialSDK(testing.TB) http.Handler {
	srv := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil)
	mcp.AddTool(srv, &mcp.Tool{Name: "greet", Description: "Greets."},
		func(_ context.Context, _ *mcp.CallToolRequest, in greetInput) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Hello, " + in.Name + "!"}}}, nil, nil
		})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}

// mcpGo serves greet with mcp-go, stateless.
func mcpGo(testing.TB) http.Handler {
	srv := mcpgoserver.NewMCPServer("bench", "1.0.0")
	srv.AddTool(mcpgo.NewTool("greet", mcpgo.WithDescription("Greets."), mcpgo.WithString("name", mcpgo.Required())),
		func(_ context.Context, req mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
			name, err := req.RequireString("name")
			if err != nil {
				return mcpgo.NewToolResultError(err.Error()), nil
			}
			return mcpgo.NewToolResultText("Hello, " + name + "!"), nil
		})
	return mcpgoserver.NewStreamableHTTPServer(srv, mcpgoserver.WithStateLess(true))
}
