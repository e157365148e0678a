package protocol

import "github.com/go-json-experiment/json/jsontext"

// ClientCapabilities is what a client can be asked for. In 2026-07-28 each
// request carries its own under [MetaClientCapabilities] (schema:
// ClientCapabilities). The zero value supports nothing. Its members are an
// open set: those not known here are kept in Other.
type ClientCapabilities struct {
	Elicitation  *ElicitationCapability `json:"elicitation,omitzero"`
	Sampling     *SamplingCapability    `json:"sampling,omitzero"` // deprecated since 2026-07-28
	Roots        *RootsCapability       `json:"roots,omitzero"`    // deprecated since 2026-07-28
	Extensions   Object                 `json:"extensions,omitzero"`
	Experimental Object                 `json:"experimental,omitzero"`
	Other        jsontext.Value         `json:",embed"`
}

// ElicitationCapability names the modes of elicitation (Elicitation,
// Capabilities). One that names neither mode means form, as it did before
// there were modes.
type ElicitationCapability struct {
	Form  Object         `json:"form,omitzero"` // nil: not declared
	URL   Object         `json:"url,omitzero"`  // nil: not declared
	Other jsontext.Value `json:",embed"`
}

// SamplingCapability names what sampling may use (Sampling, Capabilities).
type SamplingCapability struct {
	Tools   Object         `json:"tools,omitzero"`   // nil: no tools, no toolChoice
	Context Object         `json:"context,omitzero"` // nil: no includeContext but "none"
	Other   jsontext.Value `json:",embed"`
}

// RootsCapability says that a client lists its roots (Roots, Capabilities).
type RootsCapability struct {
	ListChanged bool           `json:"listChanged,omitzero"` // handshake era only
	Other       jsontext.Value `json:",embed"`
}

// SupportsForm reports whether the client takes elicitation in form mode.
func (c ClientCapabilities) SupportsForm() bool {
	return c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// SupportsURL reports whether the client takes elicitation in URL mode.
func (c ClientCapabilities) SupportsURL() bool {
	return c.Elicitation != nil && c.Elicitation.URL != nil
}

// SupportsSampling reports whether the client takes sampling requests.
func (c ClientCapabilities) SupportsSampling() bool { return c.Sampling != nil }

// SupportsSamplingTools reports whether sampling requests may have tools.
func (c ClientCapabilities) SupportsSamplingTools() bool {
	return c.Sampling != nil && c.Sampling.Tools != nil
}

// SupportsSamplingContext reports whether sampling requests may ask for the
// context of servers.
func (c ClientCapabilities) SupportsSamplingContext() bool {
	return c.Sampling != nil && c.Sampling.Context != nil
}

// SupportsRoots reports whether the client lists its roots.
func (c ClientCapabilities) SupportsRoots() bool { return c.Roots != nil }
