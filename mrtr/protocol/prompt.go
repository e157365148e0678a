package protocol

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Prompt describes a prompt that a server offers (Prompts, Prompt).
type Prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title,omitzero"` // for display; empty: Name
	Description string           `json:"description,omitzero"`
	Arguments   []PromptArgument `json:"arguments,omitzero"`
	Icons       []Icon           `json:"icons,omitzero"`
	Meta        Object           `json:"_meta,omitzero"`
}

// PromptArgument is an argument that a prompt takes. Its value is a string.
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitzero"` // for display; empty: Name
	Description string `json:"description,omitzero"`
	Required    bool   `json:"required,omitzero"`
}

// PromptMessage is one message of a prompt (Prompts, PromptMessage).
type PromptMessage struct {
	Role    Role    `json:"role"`
	Content Content `json:"content"`
}

// UnmarshalJSONFrom reads a message.
func (m *PromptMessage) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var in struct {
		Role    Role          `json:"role"`
		Content singleContent `json:"content"`
	}
	if err := json.UnmarshalDecode(dec, &in); err != nil {
		return err
	}
	*m = PromptMessage{in.Role, in.Content.Content}
	return nil
}

// ListPromptsResult answers prompts/list.
type ListPromptsResult struct {
	ResultType ResultType     `json:"resultType,omitzero"`
	Prompts    []Prompt       `json:"prompts"`
	NextCursor string         `json:"nextCursor,omitzero"` // opaque; empty: the last page
	Cache      *CacheHints    `json:",embed"`              // required in 2026-07-28
	Meta       Object         `json:"_meta,omitzero"`
	Other      jsontext.Value `json:",embed"`
}

// GetPromptResult answers prompts/get (Prompts, Getting a Prompt).
type GetPromptResult struct {
	ResultType  ResultType      `json:"resultType,omitzero"`
	Description string          `json:"description,omitzero"`
	Messages    []PromptMessage `json:"messages"`
	Meta        Object          `json:"_meta,omitzero"`
	Other       jsontext.Value  `json:",embed"`
}
