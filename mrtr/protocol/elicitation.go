package protocol

import "github.com/go-json-experiment/json/jsontext"

// The modes of elicitation. Params without a mode are a form.
const (
	ElicitForm = "form"
	ElicitURL  = "url"
)

// ElicitFormParams ask the user to fill in a form (Elicitation, Form Mode
// Elicitation Requests). A form must not ask for secrets.
type ElicitFormParams struct {
	Message         string     `json:"message"`
	RequestedSchema FormSchema `json:"requestedSchema"`
}

// MarshalJSONTo writes the params with their mode.
func (p *ElicitFormParams) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := beginObject(enc)
	w.text("mode", ElicitForm)
	w.text("message", p.Message)
	w.value("requestedSchema", &p.RequestedSchema)
	return w.end()
}

// ElicitURLParams ask the user to open a page, out of the client's sight
// (Elicitation, URL Mode Elicitation Requests).
type ElicitURLParams struct {
	Message       string `json:"message"`
	URL           string `json:"url"`
	ElicitationID string `json:"elicitationId"` // handshake era (2025-11-25) only, required there
}

// MarshalJSONTo writes the params with their mode.
func (p *ElicitURLParams) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := beginObject(enc)
	w.text("mode", ElicitURL)
	w.text("message", p.Message)
	w.text("url", p.URL)
	w.optionalText("elicitationId", p.ElicitationID)
	return w.end()
}

// ElicitAction is what a user did (Elicitation, Response Actions).
type ElicitAction string

const (
	ElicitAccept  ElicitAction = "accept"
	ElicitDecline ElicitAction = "decline" // refused
	ElicitCancel  ElicitAction = "cancel"  // dismissed without a choice
)

// ElicitResult answers an elicitation. Content counts only where a form was
// accepted: a JSON object of strings, numbers, booleans and arrays of strings.
type ElicitResult struct {
	Action  ElicitAction   `json:"action"`
	Content jsontext.Value `json:"content,omitzero"`
}
