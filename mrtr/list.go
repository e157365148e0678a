package mrtr

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// lists are the results of one protocol version that are the same for every
// request: made once, as bytes.
type lists struct {
	discover jsontext.Value
	pages    map[string]map[string]jsontext.Value // by method, then by cursor; "" is the first page
	// completions says whether completion/complete is offered.
	completions bool
}

// list answers a request for one of the lists.
func (h *handler) list(r *request) (jsontext.Value, error) {
	var cursor string
	if r.params.Cursor != nil {
		var ok bool
		if cursor, ok = stringOf(r.params.Cursor); !ok || cursor == "" {
			return nil, invalidParams("unknown cursor")
		}
	}
	page, ok := h.lists[r.version].pages[r.Method][cursor]
	if !ok {
		return nil, invalidParams("unknown cursor")
	}
	return page, nil
}

// makeLists makes the lists of one version.
func (h *handler) makeLists(version string) (*lists, error) {
	r := &request{handler: h, version: version, handshake: version != protocol.Version20260728}
	var tools, prompts, resources, templates []any
	for _, t := range h.ordered {
		switch d := t.definition.(type) {
		case protocol.Tool:
			tools = append(tools, toolFor(version, d))
		case protocol.Prompt:
			d.Icons = iconsFor(version, d.Icons)
			prompts = append(prompts, d)
		case protocol.Resource:
			d.Icons = iconsFor(version, d.Icons)
			resources = append(resources, d)
		case protocol.ResourceTemplate:
			d.Icons = iconsFor(version, d.Icons)
			templates = append(templates, d)
		}
	}
	l := &lists{pages: make(map[string]map[string]jsontext.Value)}
	for _, kind := range [...]struct {
		method, member string
		offered        bool
		items          []any
	}{
		{protocol.MethodListTools, "tools", tools != nil, tools},
		{protocol.MethodListPrompts, "prompts", prompts != nil, prompts},
		{protocol.MethodListResources, "resources", h.hasResources(), resources},
		{protocol.MethodListResourceTemplates, "resourceTemplates", h.hasResources(), templates},
	} {
		if kind.offered {
			pages, err := r.makePages(kind.method, kind.member, kind.items)
			if err != nil {
				return nil, err
			}
			l.pages[kind.method] = pages
		}
	}
	caps := h.capabilities()
	l.completions = caps.Completions != nil
	var err error
	l.discover, err = r.encodeResult(protocol.DiscoverResult{
		ResultType: protocol.ResultComplete, SupportedVersions: served, Capabilities: caps,
		Instructions: h.server.opts.Instructions, Cache: h.listCache(r),
	}, nil)
	return l, err
}

// makePages cuts a list into results of at most the page size.
func (r *request) makePages(method, member string, items []any) (map[string]jsontext.Value, error) {
	size := r.handler.server.opts.PageSize
	if size <= 0 {
		size = defaultPageSize
	}
	pages := make(map[string]jsontext.Value)
	cursor := ""
	for from := 0; ; from += size {
		to := min(from+size, len(items))
		page := append([]any{}, items[from:to]...)
		list, err := json.Marshal(page, json.Deterministic(true))
		if err != nil {
			return nil, err
		}
		next := ""
		if to < len(items) {
			next = cursorFor(method, to, list)
		}
		res := struct {
			ResultType protocol.ResultType       `json:"resultType,omitzero"`
			Next       string                    `json:"nextCursor,omitzero"`
			Cache      *protocol.CacheHints      `json:",embed"`
			List       map[string]jsontext.Value `json:",embed"`
		}{r.resultType(), next, r.handler.listCache(r), map[string]jsontext.Value{member: list}}
		if pages[cursor], err = r.encodeResult(res, nil); err != nil {
			return nil, err
		}
		if next == "" {
			return pages, nil
		}
		cursor = next
	}
}

// cursorFor names the page that begins at an offset, behind a page with these
// bytes: after a deploy that changed the list, old cursors are unknown.
func cursorFor(method string, offset int, before []byte) string {
	h := sha256.New()
	h.Write([]byte(method))
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(offset)))
	h.Write(before)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:12])
}

// listCache says how long clients may keep the lists; nil in the handshake era.
func (h *handler) listCache(r *request) *protocol.CacheHints {
	if r.handshake {
		return nil
	}
	ttl := h.server.opts.ListTTL
	if ttl == 0 {
		ttl = 5 * time.Minute
	}
	return &protocol.CacheHints{TTLMs: max(ttl, 0).Milliseconds(), Scope: protocol.CachePublic}
}

// toolFor returns a tool as a protocol version knows it: before 2026-07-28 an
// output schema is an object's.
func toolFor(version string, t protocol.Tool) protocol.Tool {
	if version != protocol.Version20260728 && !isObjectSchema(t.OutputSchema) {
		t.OutputSchema = nil
	}
	t.Icons = iconsFor(version, t.Icons)
	return t
}

// iconsFor returns the icons that a protocol version knows: before 2025-11-25
// there were none.
func iconsFor(version string, icons []protocol.Icon) []protocol.Icon {
	if version < protocol.Version20251125 {
		return nil
	}
	return icons
}

func isObjectSchema(raw jsontext.Value) bool {
	var s struct {
		Type jsontext.Value `json:"type"`
	}
	return unmarshal(raw, &s) == nil && string(s.Type) == `"object"`
}

func (h *handler) hasResources() bool {
	for _, t := range h.ordered {
		if t.purpose == requeststate.PurposeResource {
			return true
		}
	}
	return false
}

// capabilities returns what the server offers.
func (h *handler) capabilities() protocol.ServerCapabilities {
	caps := protocol.ServerCapabilities{Logging: protocol.Object{}, Extensions: h.server.opts.Extensions}
	for _, t := range h.ordered {
		switch t.purpose {
		case requeststate.PurposeTool:
			caps.Tools = &protocol.ToolsCapability{}
		case requeststate.PurposePrompt:
			caps.Prompts = &protocol.PromptsCapability{}
		case requeststate.PurposeResource:
			caps.Resources = &protocol.ResourcesCapability{}
		}
		if len(t.completers) > 0 {
			caps.Completions = protocol.Object{}
		}
	}
	return caps
}
