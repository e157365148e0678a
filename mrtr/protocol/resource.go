package protocol

import "github.com/go-json-experiment/json/jsontext"

// Resource is something that a server can be asked to read (Resources,
// Resource).
type Resource struct {
	URI         string       `json:"uri"`
	Name        string       `json:"name"`
	Title       string       `json:"title,omitzero"` // for display; empty: Name
	Description string       `json:"description,omitzero"`
	MIMEType    string       `json:"mimeType,omitzero"`
	Annotations *Annotations `json:"annotations,omitzero"`
	Size        *int64       `json:"size,omitzero"` // bytes, before any encoding; nil: not known
	Icons       []Icon       `json:"icons,omitzero"`
	Meta        Object       `json:"_meta,omitzero"`
}

// ResourceTemplate describes resources whose URIs are made from a template
// (Resources, Resource Templates).
type ResourceTemplate struct {
	URITemplate string       `json:"uriTemplate"` // RFC 6570
	Name        string       `json:"name"`
	Title       string       `json:"title,omitzero"` // for display; empty: Name
	Description string       `json:"description,omitzero"`
	MIMEType    string       `json:"mimeType,omitzero"` // where all such resources have the same
	Annotations *Annotations `json:"annotations,omitzero"`
	Icons       []Icon       `json:"icons,omitzero"`
	Meta        Object       `json:"_meta,omitzero"`
}

// ListResourcesResult answers resources/list.
type ListResourcesResult struct {
	ResultType ResultType     `json:"resultType,omitzero"`
	Resources  []Resource     `json:"resources"`
	NextCursor string         `json:"nextCursor,omitzero"` // opaque; empty: the last page
	Cache      *CacheHints    `json:",embed"`              // required in 2026-07-28
	Meta       Object         `json:"_meta,omitzero"`
	Other      jsontext.Value `json:",embed"`
}

// ListResourceTemplatesResult answers resources/templates/list.
type ListResourceTemplatesResult struct {
	ResultType        ResultType         `json:"resultType,omitzero"`
	ResourceTemplates []ResourceTemplate `json:"resourceTemplates"`
	NextCursor        string             `json:"nextCursor,omitzero"` // opaque; empty: the last page
	Cache             *CacheHints        `json:",embed"`              // required in 2026-07-28
	Meta              Object             `json:"_meta,omitzero"`
	Other             jsontext.Value     `json:",embed"`
}

// ReadResourceResult answers resources/read.
type ReadResourceResult struct {
	ResultType ResultType         `json:"resultType,omitzero"`
	Contents   []ResourceContents `json:"contents"`
	Cache      *CacheHints        `json:",embed"` // required in 2026-07-28
	Meta       Object             `json:"_meta,omitzero"`
	Other      jsontext.Value     `json:",embed"`
}
