package protocol

import "github.com/go-json-experiment/json/jsontext"

// InputResponses are the client's answers by the keys of the [InputRequests]:
// an [ElicitResult], [CreateMessageResult] or [ListRootsResult] each (Multi
// Round-Trip Requests, InputResponses). Everything in it comes from the client
// and is kept raw until the question that it answers is known. It is written
// with its keys sorted.
type InputResponses map[string]jsontext.Value

// MarshalJSONTo writes the answers in the order of their keys.
func (r InputResponses) MarshalJSONTo(enc *jsontext.Encoder) error { return writeMembers(enc, r) }

// UnmarshalJSONFrom reads an object, or null as nil.
func (r *InputResponses) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	m, err := readMembers(dec)
	*r = m
	return err
}
