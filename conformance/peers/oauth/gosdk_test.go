package oauth

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

var info = &mcp.Implementation{Name: "oauth", Version: "1.0.0"}

// runGoSDK is the official Go SDK's client, with its own loop.
func runGoSDK(ctx context.Context, r run) (*report, error) {
	c := mcp.NewClient(info, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			schema, _ := req.Params.RequestedSchema.(map[string]any)
			properties, _ := schema["properties"].(map[string]any)
			if _, ok := properties["color"]; ok {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"color": "blue"}}, nil
			}
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Alice"}}, nil
		},
	})
	return withSession(ctx, r, c, func(t mcp.Transport) mcp.Transport { return t }, func(session *mcp.ClientSession) (*mcp.CallToolResult, error) {
		return session.CallTool(ctx, &mcp.CallToolParams{Name: multiRound, Arguments: map[string]any{}})
	})
}

// runOurs is mrtr/client on the official Go SDK.
func runOurs(ctx context.Context, r run) (*report, error) {
	forms := map[string]string{"step1": `{"name":"Alice"}`, "step2": `{"color":"blue"}`}
	h := &client.Handlers{Form: func(_ context.Context, q *client.FormQuestion) (protocol.ElicitResult, error) {
		return protocol.ElicitResult{Action: protocol.ElicitAccept, Content: jsontext.Value(forms[q.Key])}, nil
	}}
	return withSession(ctx, r, client.New(info, h, nil), client.Transport, func(session *mcp.ClientSession) (*mcp.CallToolResult, error) {
		out, err := client.CallToolWithInputs(ctx, session, multiRound, nil, client.DefaultInputHandler(h), nil)
		if err != nil {
			return nil, err
		}
		return out.Result, nil
	})
}

// withSession signs in, lists the tools and calls one.
func withSession(ctx context.Context, r run, c *mcp.Client, wrap func(mcp.Transport) mcp.Transport, call func(*mcp.ClientSession) (*mcp.CallToolResult, error)) (*report, error) {
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: redirectURL, AuthorizationCodeFetcher: browse, RequestRefreshToken: true,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "oauth", RedirectURIs: []string{redirectURL},
			GrantTypes: []string{"authorization_code", "refresh_token"}, TokenEndpointAuthMethod: "none",
		}},
	}
	if r.document != "" {
		config.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: r.document}
	}
	signer, err := auth.NewAuthorizationCodeHandler(config)
	if err != nil {
		return nil, err
	}
	transport := wrap(&mcp.StreamableClientTransport{Endpoint: r.url, OAuthHandler: signer})
	session, err := c.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: protocol.Version20260728})
	if err != nil {
		return nil, err
	}
	defer session.Close()
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	rep := &report{}
	for _, tool := range list.Tools {
		rep.Tools = append(rep.Tools, tool.Name)
	}
	res, err := call(session)
	if err != nil {
		rep.Error = err.Error()
		return rep, nil
	}
	rep.IsError = res.IsError
	for _, content := range res.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			rep.Text += text.Text
		}
	}
	return rep, nil
}

// browse is the person at the browser.
func browse(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, args.URL, nil)
	if err != nil {
		return nil, err
	}
	resp, err := browser.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		return nil, errors.New("the browser is not sent back")
	}
	q := back.Query()
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}
