package mrtr

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// The functions below add to missing what a question needs and have lacks.

func lacksForm(have protocol.ClientCapabilities, missing *protocol.ClientCapabilities) {
	if !have.SupportsForm() {
		elicitation(missing).Form = protocol.Object{}
	}
}

func lacksURL(have protocol.ClientCapabilities, missing *protocol.ClientCapabilities) {
	if !have.SupportsURL() {
		elicitation(missing).URL = protocol.Object{}
	}
}

func lacksSampling(have protocol.ClientCapabilities, missing *protocol.ClientCapabilities, tools bool) {
	if have.SupportsSampling() && (!tools || have.SupportsSamplingTools()) {
		return
	}
	if missing.Sampling == nil {
		missing.Sampling = &protocol.SamplingCapability{}
	}
	if tools {
		missing.Sampling.Tools = protocol.Object{}
	}
}

func lacksRoots(have protocol.ClientCapabilities, missing *protocol.ClientCapabilities) {
	if !have.SupportsRoots() {
		missing.Roots = &protocol.RootsCapability{}
	}
}

func elicitation(c *protocol.ClientCapabilities) *protocol.ElicitationCapability {
	if c.Elicitation == nil {
		c.Elicitation = &protocol.ElicitationCapability{}
	}
	return c.Elicitation
}

// lacksFor adds what an input request of a guard-style handler needs.
func lacksFor(r protocol.InputRequest, have protocol.ClientCapabilities, missing *protocol.ClientCapabilities) {
	var p struct {
		Mode       string         `json:"mode"`
		Tools      jsontext.Value `json:"tools"`
		ToolChoice jsontext.Value `json:"toolChoice"`
	}
	_ = unmarshal(r.Params, &p) // params of another form need nothing more
	switch r.Method {
	case protocol.MethodElicit:
		if p.Mode == protocol.ElicitURL {
			lacksURL(have, missing)
		} else {
			lacksForm(have, missing)
		}
	case protocol.MethodCreateMessage:
		lacksSampling(have, missing, p.Tools != nil || p.ToolChoice != nil)
	case protocol.MethodListRoots:
		lacksRoots(have, missing)
	}
}

// lacksNeeds returns what of needs is not in have.
func lacksNeeds(needs, have protocol.ClientCapabilities) (missing protocol.ClientCapabilities) {
	if needs.Elicitation != nil {
		if needs.SupportsForm() {
			lacksForm(have, &missing)
		}
		if needs.SupportsURL() {
			lacksURL(have, &missing)
		}
	}
	if needs.SupportsSampling() {
		lacksSampling(have, &missing, needs.SupportsSamplingTools())
	}
	if needs.SupportsRoots() {
		lacksRoots(have, &missing)
	}
	return missing
}

// missingCapability returns the error for a client that did not declare
// missing; nil where nothing is.
func missingCapability(missing protocol.ClientCapabilities) *failure {
	if missing.Elicitation == nil && missing.Sampling == nil && missing.Roots == nil {
		return nil
	}
	return fail(http.StatusBadRequest, protocol.CodeMissingRequiredClientCapability, "Missing required client capability").
		with(protocol.MissingRequiredClientCapabilityData{RequiredCapabilities: missing})
}
