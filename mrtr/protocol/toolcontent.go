package protocol

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ToolUseContent is a model's wish to call a tool (Sampling, Sampling with
// Tools). Deprecated with sampling since 2026-07-28.
type ToolUseContent struct {
	ID    string         `json:"id"` // a ToolResultContent answers it
	Name  string         `json:"name"`
	Input jsontext.Value `json:"input"` // a JSON object; nil is written as {}
	Meta  Object         `json:"_meta,omitzero"`
}

func (*ToolUseContent) ContentType() string { return TypeToolUse }
func (*ToolUseContent) isContent()          {}

// MarshalJSONTo writes the block with its type.
func (c *ToolUseContent) MarshalJSONTo(enc *jsontext.Encoder) error {
	input := c.Input
	if input == nil {
		input = jsontext.Value("{}")
	}
	w := beginObject(enc)
	w.text("type", TypeToolUse)
	w.text("id", c.ID)
	w.text("name", c.Name)
	w.raw("input", input)
	w.object("_meta", c.Meta)
	return w.end()
}

// ToolResultContent is the result of a tool use, given back to the model
// (Sampling, Tool Result Messages). Deprecated with sampling since 2026-07-28.
type ToolResultContent struct {
	ToolUseID         string         `json:"toolUseId"`
	Content           ContentList    `json:"content"`                    // no tool uses or results; decoding leaves such raw
	StructuredContent jsontext.Value `json:"structuredContent,omitzero"` // any JSON value; nil: none
	IsError           bool           `json:"isError,omitzero"`
	Meta              Object         `json:"_meta,omitzero"`
}

func (*ToolResultContent) ContentType() string { return TypeToolResult }
func (*ToolResultContent) isContent()          {}

// MarshalJSONTo writes the block with its type.
func (c *ToolResultContent) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := beginObject(enc)
	w.text("type", TypeToolResult)
	w.text("toolUseId", c.ToolUseID)
	w.value("content", c.Content)
	w.raw("structuredContent", c.StructuredContent)
	if c.IsError {
		w.token(jsontext.String("isError"))
		w.token(jsontext.True)
	}
	w.object("_meta", c.Meta)
	return w.end()
}

// UnmarshalJSONFrom reads the block.
func (c *ToolResultContent) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var in struct {
		ToolUseID         string         `json:"toolUseId"`
		Content           flatContents   `json:"content"`
		StructuredContent jsontext.Value `json:"structuredContent"`
		IsError           bool           `json:"isError"`
		Meta              Object         `json:"_meta"`
	}
	if err := json.UnmarshalDecode(dec, &in); err != nil {
		return err
	}
	*c = ToolResultContent{in.ToolUseID, ContentList(in.Content), in.StructuredContent, in.IsError, in.Meta}
	return nil
}
