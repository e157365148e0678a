package protocol

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// InputRequest is one thing that a server needs from its client (Multi
// Round-Trip Requests, InputRequests).
type InputRequest struct {
	Key    string         `json:"-"`               // its name in InputRequests
	Method string         `json:"method"`          // MethodElicit, MethodCreateMessage or MethodListRoots
	Params jsontext.Value `json:"params,omitzero"` // a JSON object; nil: none, for MethodListRoots only
}

// InputRequests is a JSON object of requests by key, in order. Keys are
// unique: neither encoding nor decoding accepts one twice.
type InputRequests []InputRequest

// Get returns the request with a key.
func (r InputRequests) Get(key string) (InputRequest, bool) {
	for _, q := range r {
		if q.Key == key {
			return q, true
		}
	}
	return InputRequest{}, false
}

// MarshalJSONTo writes an object whose members are in the order of r.
func (r InputRequests) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := beginObject(enc)
	for i := range r {
		w.value(r[i].Key, &r[i])
	}
	return w.end()
}

// UnmarshalJSONFrom reads an object, or null as nil.
func (r *InputRequests) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var out InputRequests
	err := eachMember(dec, func() { out = InputRequests{} }, func(key string, value jsontext.Value) error {
		q := InputRequest{Key: key}
		if err := json.Unmarshal(value, &q, dec.Options()); err != nil {
			return err
		}
		out = append(out, q)
		return nil
	})
	*r = out
	return err
}

// InputRequiredResult answers tools/call, prompts/get or resources/read when
// the server needs something first (Multi Round-Trip Requests,
// InputRequiredResult). The client retries the request with [InputResponses]
// and the state as it came. At least one of the two must be there.
type InputRequiredResult struct {
	ResultType    ResultType     `json:"resultType"` // ResultInputRequired
	InputRequests InputRequests  `json:"inputRequests,omitzero"`
	RequestState  string         `json:"requestState,omitzero"` // opaque to the client
	Meta          Object         `json:"_meta,omitzero"`
	Other         jsontext.Value `json:",embed"`
}
