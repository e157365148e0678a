package protocol

import "github.com/go-json-experiment/json/jsontext"

// ImageContent is a picture (Tools, Image Content).
type ImageContent struct {
	Data        []byte       `json:"data"`     // Base64 on the wire
	MIMEType    string       `json:"mimeType"` // such as image/png
	Annotations *Annotations `json:"annotations,omitzero"`
	Meta        Object       `json:"_meta,omitzero"`
}

func (*ImageContent) ContentType() string { return TypeImage }
func (*ImageContent) isContent()          {}

// MarshalJSONTo writes the block with its type.
func (c *ImageContent) MarshalJSONTo(enc *jsontext.Encoder) error {
	return writeMedia(enc, TypeImage, c.Data, c.MIMEType, c.Annotations, c.Meta)
}

// AudioContent is sound (Tools, Audio Content).
type AudioContent struct {
	Data        []byte       `json:"data"`     // Base64 on the wire
	MIMEType    string       `json:"mimeType"` // such as audio/wav
	Annotations *Annotations `json:"annotations,omitzero"`
	Meta        Object       `json:"_meta,omitzero"`
}

func (*AudioContent) ContentType() string { return TypeAudio }
func (*AudioContent) isContent()          {}

// MarshalJSONTo writes the block with its type.
func (c *AudioContent) MarshalJSONTo(enc *jsontext.Encoder) error {
	return writeMedia(enc, TypeAudio, c.Data, c.MIMEType, c.Annotations, c.Meta)
}

func writeMedia(enc *jsontext.Encoder, typ string, data []byte, mimeType string, a *Annotations, meta Object) error {
	w := beginObject(enc)
	w.text("type", typ)
	w.value("data", data)
	w.text("mimeType", mimeType)
	pointer(w, "annotations", a)
	w.object("_meta", meta)
	return w.end()
}
