package mrtr

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/schema"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// Tool describes a tool. Only Name is required.
type Tool struct {
	Name         string // 1 to 128 of A-Z a-z 0-9 _ - .
	Title        string
	Description  string
	Annotations  *protocol.ToolAnnotations
	Icons        []protocol.Icon
	Meta         protocol.Object
	InputSchema  jsontext.Value // JSON Schema 2020-12, an object; nil: made from In
	OutputSchema jsontext.Value // nil: made from Out, unless Out is *Result

	// Revision names what the tool's questions and steps look like. A state
	// that another revision sealed is refused, unless AcceptRevisions lists it.
	// Change it when a running flow must not be continued by the new code; it
	// is no build number. At most 255 bytes.
	Revision        string
	AcceptRevisions []string

	// Needs lists what the client must have declared before the handler runs.
	// A tool that leaves it out is checked when it asks.
	Needs protocol.ClientCapabilities

	// YieldWithin makes a step that would begin with less than this left of the
	// request's time yield first; see Call.Yield. Zero: steps never do.
	YieldWithin time.Duration
}

// AddTool registers a tool whose handler is plain Go: In is what the arguments
// decode into, Out what it returns. Out = *Result gives full control of the
// result; any other type becomes structured content, with an output schema. The
// handler runs from the top in every round; see Ask.
//
// A mistake in t, In or Out panics, as does a second tool of the same name.
func AddTool[In, Out any](s *Server, t Tool, handle func(context.Context, *Call, In) (Out, error)) {
	in, out := reflect.TypeFor[In](), reflect.TypeFor[Out]()
	full := out == reflect.TypeFor[*Result]()
	entry, err := s.newTool(t, in, out, full)
	if err != nil {
		panic(fmt.Sprintf("mrtr: tool %q: %v", t.Name, err))
	}
	entry.run = func(ctx context.Context, c *Call, args jsontext.Value) (reply, error) {
		var v In
		if err := unmarshal(args, &v); err != nil {
			return nil, &PublicError{text: "The arguments do not fit the tool's input.", cause: err}
		}
		res, err := handle(ctx, c, v)
		if err != nil {
			return nil, err
		}
		if full {
			r, _ := any(res).(*Result)
			if r == nil {
				return nil, internal("no_result", fmt.Errorf("the handler of %q returned neither a result nor an error", t.Name))
			}
			return r, nil
		}
		return JSON(res)
	}
	s.add(entry)
}

func (s *Server) newTool(t Tool, in, out reflect.Type, full bool) (*target, error) {
	if err := checkName(t.Name); err != nil {
		return nil, err
	}
	var input, output *schema.Schema
	var err error
	if t.InputSchema != nil {
		input, err = schema.Parse(t.InputSchema)
	} else {
		input, err = s.schemas.Schema(in)
	}
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	if !input.IsObject() {
		return nil, fmt.Errorf("input schema: its root must have type object")
	}
	switch {
	case t.OutputSchema != nil:
		output, err = schema.Parse(t.OutputSchema)
	case !full:
		output, err = s.schemas.Schema(out)
	}
	if err != nil {
		return nil, fmt.Errorf("output schema: %w", err)
	}
	def := protocol.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, Icons: t.Icons,
		Annotations: t.Annotations, InputSchema: input.Raw(), Meta: t.Meta,
	}
	if output != nil {
		def.OutputSchema = output.Raw()
	}
	entry := &target{
		purpose: requeststate.PurposeTool, method: protocol.MethodCallTool, name: t.Name,
		input: input, needs: t.Needs, definition: def, yieldWithin: t.YieldWithin,
	}
	if entry.headers, err = paramHeaders(input.Raw()); err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	return entry, entry.setRevision(t.Revision, t.AcceptRevisions)
}

// checkName holds a tool's name against the characters that the specification
// recommends (MCP 2026-07-28, Tools, Tool Names).
func checkName(name string) error {
	if len(name) < 1 || len(name) > 128 {
		return fmt.Errorf("a name has 1 to 128 characters")
	}
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '.':
		default:
			return fmt.Errorf("a name has letters, digits, '_', '-' and '.' only")
		}
	}
	return nil
}
