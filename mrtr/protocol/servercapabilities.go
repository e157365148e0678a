package protocol

import "github.com/go-json-experiment/json/jsontext"

// ServerCapabilities is what a server offers (schema: ServerCapabilities). The
// zero value offers nothing. Its members are an open set: those not known here
// are kept in Other.
type ServerCapabilities struct {
	Tools        *ToolsCapability     `json:"tools,omitzero"`
	Prompts      *PromptsCapability   `json:"prompts,omitzero"`
	Resources    *ResourcesCapability `json:"resources,omitzero"`
	Completions  Object               `json:"completions,omitzero"` // nil: none
	Logging      Object               `json:"logging,omitzero"`     // nil: none; deprecated since 2026-07-28
	Extensions   Object               `json:"extensions,omitzero"`
	Experimental Object               `json:"experimental,omitzero"`
	Other        jsontext.Value       `json:",embed"`
}

// ToolsCapability says that a server has tools.
type ToolsCapability struct {
	ListChanged bool           `json:"listChanged,omitzero"`
	Other       jsontext.Value `json:",embed"`
}

// PromptsCapability says that a server has prompts.
type PromptsCapability struct {
	ListChanged bool           `json:"listChanged,omitzero"`
	Other       jsontext.Value `json:",embed"`
}

// ResourcesCapability says that a server has resources.
type ResourcesCapability struct {
	Subscribe   bool           `json:"subscribe,omitzero"`
	ListChanged bool           `json:"listChanged,omitzero"`
	Other       jsontext.Value `json:",embed"`
}
