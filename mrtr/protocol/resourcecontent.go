package protocol

import "github.com/go-json-experiment/json/jsontext"

// ResourceContents is what a resource holds: bytes where Blob is not nil (an
// empty Blob too), text otherwise (schema: TextResourceContents,
// BlobResourceContents).
type ResourceContents struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType,omitzero"`
	Text     string `json:"text"` // unused where Blob is not nil
	Blob     []byte `json:"blob"` // Base64 on the wire
	Meta     Object `json:"_meta,omitzero"`
}

// MarshalJSONTo writes either text or blob.
func (c *ResourceContents) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := beginObject(enc)
	w.text("uri", c.URI)
	w.optionalText("mimeType", c.MIMEType)
	if c.Blob != nil {
		w.value("blob", c.Blob)
	} else {
		w.text("text", c.Text)
	}
	w.object("_meta", c.Meta)
	return w.end()
}

// ResourceLink is content that names a resource without its contents (Tools,
// Resource Links). The resource need not be in resources/list.
type ResourceLink Resource

func (*ResourceLink) ContentType() string { return TypeResourceLink }
func (*ResourceLink) isContent()          {}

// MarshalJSONTo writes the block with its type.
func (c *ResourceLink) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := beginObject(enc)
	w.text("type", TypeResourceLink)
	w.text("uri", c.URI)
	w.text("name", c.Name)
	w.optionalText("title", c.Title)
	w.optionalText("description", c.Description)
	w.optionalText("mimeType", c.MIMEType)
	pointer(w, "annotations", c.Annotations)
	pointer(w, "size", c.Size)
	list(w, "icons", c.Icons)
	w.object("_meta", c.Meta)
	return w.end()
}

// EmbeddedResource is content that holds a resource's contents (Tools,
// Embedded Resources).
type EmbeddedResource struct {
	Resource    ResourceContents `json:"resource"`
	Annotations *Annotations     `json:"annotations,omitzero"`
	Meta        Object           `json:"_meta,omitzero"`
}

func (*EmbeddedResource) ContentType() string { return TypeResource }
func (*EmbeddedResource) isContent()          {}

// MarshalJSONTo writes the block with its type.
func (c *EmbeddedResource) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := beginObject(enc)
	w.text("type", TypeResource)
	w.value("resource", &c.Resource)
	pointer(w, "annotations", c.Annotations)
	w.object("_meta", c.Meta)
	return w.end()
}
