package protocol

// Icon is a picture that a client may show (Basic, icons).
type Icon struct {
	Src      string   `json:"src"`               // an https or data URI
	MIMEType string   `json:"mimeType,omitzero"` // such as image/png
	Sizes    []string `json:"sizes,omitzero"`    // "48x48", or "any"; nil: any
	Theme    string   `json:"theme,omitzero"`    // "light" or "dark"; empty: either
}
