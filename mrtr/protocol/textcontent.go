package protocol

import "github.com/go-json-experiment/json/jsontext"

// TextContent is text (Tools, Text Content).
type TextContent struct {
	Text        string       `json:"text"`
	Annotations *Annotations `json:"annotations,omitzero"`
	Meta        Object       `json:"_meta,omitzero"`
}

// Text returns content that is just text.
func Text(text string) *TextContent { return &TextContent{Text: text} }

func (*TextContent) ContentType() string { return TypeText }
func (*TextContent) isContent()          {}

// MarshalJSONTo writes the block with its type.
func (c *TextContent) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := beginObject(enc)
	w.text("type", TypeText)
	w.text("text", c.Text)
	pointer(w, "annotations", c.Annotations)
	w.object("_meta", c.Meta)
	return w.end()
}
