package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mrtr-lambda/mrtr-lambda/cmd/mrtr/internal/prompt"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// list is the command that lists a server's tools.
func list(ctx context.Context, s stdio, f *flags) error {
	asJSON := f.Bool("json", false, "print the tools as JSON")
	access := f.access()
	args, err := f.parse(1, 1)
	if err != nil {
		return err
	}
	u, err := parseURL(args[0])
	if err != nil {
		return err
	}
	return access.within(ctx, func(ctx context.Context) error { return listAt(ctx, s, u, access, *asJSON) })
}

func listAt(ctx context.Context, s stdio, u *url.URL, access *access, asJSON bool) error {
	session, err := connect(ctx, s, u, new(client.Handlers), access)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	all, err := tools(ctx, session)
	if err != nil {
		return err
	}
	if asJSON {
		if all == nil {
			all = []*mcp.Tool{}
		}
		b, err := sdkJSON(all)
		if err != nil {
			return err
		}
		fmt.Fprintln(s.out, prompt.Text(string(b)))
		return nil
	}
	for _, t := range all {
		listTool(s.out, t)
	}
	return nil
}

// sdkJSON encodes a value of the SDK.
func sdkJSON(v any) (jsontext.Value, error) {
	return json.Marshal(v, jsonv1.OmitEmptyWithLegacySemantics(true), json.Deterministic(true))
}

// listTool writes a tool's name, title, description and arguments.
func listTool(w io.Writer, t *mcp.Tool) {
	fmt.Fprint(w, prompt.Line(t.Name))
	if t.Title != "" {
		fmt.Fprintf(w, " (%s)", prompt.Line(t.Title))
	}
	fmt.Fprintln(w)
	for line := range strings.SplitSeq(strings.TrimSpace(t.Description), "\n") {
		if line != "" {
			fmt.Fprintf(w, "    %s\n", prompt.Line(line))
		}
	}
	for _, p := range parameters(t) {
		fmt.Fprintf(w, "    --arg %s\n", prompt.Line(p))
	}
}

// parameters describes the arguments that a tool's schema names: "city=string",
// in brackets where it can be left out.
func parameters(t *mcp.Tool) []string {
	raw, err := sdkJSON(t.InputSchema)
	if err != nil {
		return nil
	}
	var schema struct {
		Properties protocol.Object `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(raw, &schema) != nil {
		return nil
	}
	required := map[string]bool{}
	for _, name := range schema.Required {
		required[name] = true
	}
	var out []string
	for _, name := range sortedKeys(schema.Properties) {
		var p struct {
			Description string `json:"description"`
		}
		_ = json.Unmarshal(schema.Properties[name], &p)
		text := name + "=" + strings.Join(typesOf(schema.Properties[name]), "|")
		if !required[name] {
			text = "[" + text + "]"
		}
		if p.Description != "" {
			text += "  " + p.Description
		}
		out = append(out, text)
	}
	return out
}
