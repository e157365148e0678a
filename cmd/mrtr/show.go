package main

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/cmd/mrtr/internal/prompt"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// showRound writes a round as it went over the wire.
func showRound(s stdio, x client.Exchange) {
	s.note("round %d, request", x.Round)
	fmt.Fprintln(s.err, prompt.Text(prompt.JSON(x.Request, 100)))
	if x.Response == nil {
		s.note("round %d: no response that could be read", x.Round)
		return
	}
	s.note("round %d, response", x.Round)
	fmt.Fprintln(s.err, prompt.Text(prompt.JSON(x.Response, 100)))
}

// showResult writes the content of a tool's result: text as it is, other kinds
// as a line each. Where there is no content the structured one is written.
func showResult(w io.Writer, raw jsontext.Value) error {
	var r protocol.CallToolResult
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("reading the result: %w", err)
	}
	if len(r.Content) == 0 && r.StructuredContent != nil {
		fmt.Fprintln(w, prompt.Text(prompt.JSON(r.StructuredContent, 100)))
	}
	for _, c := range r.Content {
		switch c := c.(type) {
		case *protocol.TextContent:
			fmt.Fprintln(w, prompt.Text(c.Text))
		case *protocol.ImageContent:
			fmt.Fprintf(w, "[image, %s, %d bytes]\n", prompt.Line(c.MIMEType), len(c.Data))
		case *protocol.AudioContent:
			fmt.Fprintf(w, "[audio, %s, %d bytes]\n", prompt.Line(c.MIMEType), len(c.Data))
		case *protocol.ResourceLink:
			fmt.Fprintf(w, "[resource %s]\n", prompt.Line(c.URI))
		case *protocol.EmbeddedResource:
			if c.Resource.Blob != nil {
				fmt.Fprintf(w, "[resource %s, %d bytes]\n", prompt.Line(c.Resource.URI), len(c.Resource.Blob))
			} else {
				fmt.Fprintln(w, prompt.Text(c.Resource.Text))
			}
		default:
			fmt.Fprintf(w, "[%s]\n", prompt.Line(c.ContentType()))
		}
	}
	return nil
}
