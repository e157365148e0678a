package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
)

// scenario is what is done against one of the suite's servers, after the tools
// were listed.
type scenario struct {
	play    func(ctx context.Context, p *player) error
	signer  func(g *given) (auth.OAuthHandler, error) // nil: nobody signs in
	refuses bool                                      // the server does what a client must not go along with
}

// run connects and plays.
func (s *scenario) run(ctx context.Context, url, revision string, g *given) error {
	var signer auth.OAuthHandler
	if s.signer != nil {
		var err error
		if signer, err = s.signer(g); err != nil {
			return fmt.Errorf("setting up OAuth: %w", err)
		}
	}
	p, err := connect(ctx, url, revision, g, signer)
	if err != nil {
		return err
	}
	defer p.session.Close()
	return s.play(ctx, p)
}

// scenarios are those of the suite that the client supports, by name.
var scenarios = map[string]scenario{
	"initialize":                          {play: nothing},
	"request-metadata":                    {play: nothing},
	"json-schema-ref-no-deref":            {play: nothing},
	"tools_call":                          {play: call("add_numbers", map[string]int{"a": 5, "b": 3})},
	"elicitation-sep1034-client-defaults": {play: call("test_client_elicitation_defaults", nil)},
	"sse-retry":                           {play: call("test_reconnection", nil)},
	"sep-2322-client-request-state":       {play: rounds},
	"http-standard-headers":               {play: everything},
	"http-custom-headers":                 {play: callGiven},
	"http-invalid-tool-headers":           {play: callListed},
	"json-schema-2020-12-preservation":    {play: echoSchema},

	"auth/metadata-default":               signIn,
	"auth/metadata-var1":                  signIn,
	"auth/metadata-var2":                  signIn,
	"auth/metadata-var3":                  signIn,
	"auth/basic-cimd":                     signIn,
	"auth/scope-from-www-authenticate":    signIn,
	"auth/scope-from-scopes-supported":    signIn,
	"auth/scope-omitted-when-undefined":   signIn,
	"auth/scope-step-up":                  signIn,
	"auth/scope-retry-limit":              signInRefused, // no token is ever good enough
	"auth/token-endpoint-auth-basic":      signIn,
	"auth/token-endpoint-auth-post":       signIn,
	"auth/token-endpoint-auth-none":       signIn,
	"auth/pre-registration":               signIn,
	"auth/resource-mismatch":              signInRefused, // the metadata is another resource's
	"auth/offline-access-scope":           signIn,
	"auth/offline-access-not-supported":   signIn,
	"auth/authorization-server-migration": signIn,
	"auth/iss-supported":                  signIn,
	"auth/iss-not-advertised":             signIn,
	"auth/iss-supported-missing":          signInRefused, // iss is promised and left out
	"auth/iss-wrong-issuer":               signInRefused, // iss names another issuer
	"auth/iss-unexpected":                 signInRefused, // the same, where iss was not promised
	"auth/iss-normalized":                 signInRefused, // iss is the issuer only after normalizing
	"auth/metadata-issuer-mismatch":       signInRefused, // the metadata is another issuer's
	"auth/client-credentials-basic":       {play: callTestTool, signer: serviceSigner},
}

var (
	callTestTool  = call("test-tool", nil)
	signIn        = scenario{play: callTestTool, signer: personSigner}
	signInRefused = scenario{play: callTestTool, signer: personSigner, refuses: true}
)

func nothing(context.Context, *player) error { return nil }

// call calls one tool.
func call(tool string, args any) func(context.Context, *player) error {
	return func(ctx context.Context, p *player) error { return p.call(ctx, tool, args) }
}

// rounds calls tools that ask back, and another while their questions are open.
func rounds(ctx context.Context, p *player) error {
	between := func(ctx context.Context, q client.Question) (jsontext.Value, error) {
		if err := p.call(ctx, "test_mrtr_unrelated", nil); err != nil {
			return nil, err
		}
		return answer(ctx, q)
	}
	for _, tt := range []struct {
		tool   string
		rounds int
	}{{"test_mrtr_echo_state", 2}, {"test_mrtr_no_state", 2}, {"test_mrtr_no_result_type", 1}} {
		out, err := client.CallToolWithInputs(ctx, p.session, tt.tool, nil, between, nil)
		if err != nil {
			return fmt.Errorf("calling %s: %w", tt.tool, err)
		}
		if out.Rounds != tt.rounds {
			return fmt.Errorf("%s took %d rounds, not %d", tt.tool, out.Rounds, tt.rounds)
		}
	}
	return nil
}

// everything calls all tools, reads all resources and gets all prompts.
func everything(ctx context.Context, p *player) error {
	for _, tool := range p.tools {
		if err := p.call(ctx, tool.Name, nil); err != nil {
			return err
		}
	}
	resources, err := p.session.ListResources(ctx, nil)
	if err != nil {
		return fmt.Errorf("listing resources: %w", err)
	}
	for _, r := range resources.Resources {
		if _, err := client.ReadResourceWithInputs(ctx, p.session, r.URI, answer, nil); err != nil {
			return fmt.Errorf("reading %s: %w", r.URI, err)
		}
	}
	prompts, err := p.session.ListPrompts(ctx, nil)
	if err != nil {
		return fmt.Errorf("listing prompts: %w", err)
	}
	for _, prompt := range prompts.Prompts {
		if _, err := client.GetPromptWithInputs(ctx, p.session, prompt.Name, nil, answer, nil); err != nil {
			return fmt.Errorf("getting %s: %w", prompt.Name, err)
		}
	}
	return nil
}

// callGiven makes the calls that the suite lists.
func callGiven(ctx context.Context, p *player) error {
	for _, c := range p.given.ToolCalls {
		if err := p.call(ctx, c.Name, c.Arguments); err != nil {
			return err
		}
	}
	return nil
}

// callListed calls every tool that the SDK lists: one whose schema asks for a
// header that cannot be is not among them.
func callListed(ctx context.Context, p *player) error {
	for _, tool := range p.tools {
		if err := p.call(ctx, tool.Name, map[string]string{"region": "us-west1"}); err != nil {
			return err
		}
	}
	return nil
}

// echoSchema sends a tool's schema back as it was listed.
func echoSchema(ctx context.Context, p *player) error {
	for _, tool := range p.tools {
		if tool.Name == "json_schema_2020_12_tool" {
			return p.call(ctx, "json_schema_echo", map[string]any{"schema": tool.InputSchema})
		}
	}
	return errors.New("the tool is not listed")
}
