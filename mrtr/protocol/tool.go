package protocol

import "github.com/go-json-experiment/json/jsontext"

// Tool describes a tool that a client may call (Tools, Tool).
type Tool struct {
	Name         string           `json:"name"`
	Title        string           `json:"title,omitzero"` // for display; empty: Annotations.Title, then Name
	Description  string           `json:"description,omitzero"`
	InputSchema  jsontext.Value   `json:"inputSchema"`           // a JSON Schema object whose type is "object"
	OutputSchema jsontext.Value   `json:"outputSchema,omitzero"` // a JSON Schema object; nil: none
	Annotations  *ToolAnnotations `json:"annotations,omitzero"`
	Icons        []Icon           `json:"icons,omitzero"`
	Meta         Object           `json:"_meta,omitzero"`
}

// ToolAnnotations are hints about what a tool does. A client must not trust
// those of a server it does not trust (schema: ToolAnnotations). A hint that
// is true by default is a pointer: nil is true.
type ToolAnnotations struct {
	Title           string `json:"title,omitzero"`
	ReadOnlyHint    bool   `json:"readOnlyHint,omitzero"`    // changes nothing
	DestructiveHint *bool  `json:"destructiveHint,omitzero"` // may do more than add; nil: true
	IdempotentHint  bool   `json:"idempotentHint,omitzero"`  // repeating a call changes nothing more
	OpenWorldHint   *bool  `json:"openWorldHint,omitzero"`   // deals with the world outside; nil: true
}

// ListToolsResult answers tools/list.
type ListToolsResult struct {
	ResultType ResultType     `json:"resultType,omitzero"`
	Tools      []Tool         `json:"tools"`
	NextCursor string         `json:"nextCursor,omitzero"` // opaque; empty: the last page
	Cache      *CacheHints    `json:",embed"`              // required in 2026-07-28
	Meta       Object         `json:"_meta,omitzero"`
	Other      jsontext.Value `json:",embed"`
}

// CallToolResult answers tools/call (Tools, Tool Result). An error of the tool
// itself is a result with IsError, so that the model sees it.
type CallToolResult struct {
	ResultType        ResultType     `json:"resultType,omitzero"`
	Content           ContentList    `json:"content"`
	StructuredContent jsontext.Value `json:"structuredContent,omitzero"` // any JSON value; nil: none
	IsError           bool           `json:"isError,omitzero"`
	Meta              Object         `json:"_meta,omitzero"`
	Other             jsontext.Value `json:",embed"`
}
