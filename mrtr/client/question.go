package client

import (
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// Question is one thing that a server needs from its client.
type Question struct {
	Key    string         `json:"key"`             // its name in the round; empty for a request of a handshake server
	Method string         `json:"method"`          // protocol.MethodElicit, MethodCreateMessage or MethodListRoots
	Params jsontext.Value `json:"params,omitzero"` // a JSON object, as it came; nil: none
	// Invalid says why the answer of the last round was not taken, where the
	// question is asked again and the server says so. The texts are the server's.
	Invalid []string `json:"invalid,omitzero"`
}

// metaInvalid is the key in a result's _meta under which a server says what was
// wrong with answers that it asks for again.
const metaInvalid = "io.github.mrtr-lambda/invalidInputResponses"

// elicitation is what the params of an elicitation say, either mode.
type elicitation struct {
	Mode    string         `json:"mode"`
	Message string         `json:"message"`
	Schema  jsontext.Value `json:"requestedSchema"`
	URL     string         `json:"url"`
}

func (q *Question) refuse(reason error, detail string) *QuestionError {
	return &QuestionError{Key: q.Key, Method: q.Method, Err: reason, Detail: detail}
}

// check reads the question and holds it against what the client declared; nil
// declares nothing.
func (q *Question) check(declared *protocol.ClientCapabilities) error {
	need, err := q.needs()
	if err != nil {
		return err
	}
	var have protocol.ClientCapabilities
	if declared != nil {
		have = *declared
	}
	for _, n := range need {
		if !supports(have, n) {
			return q.refuse(ErrUndeclared, n)
		}
	}
	return nil
}

// needs reads the question and returns the capabilities that it takes.
func (q *Question) needs() ([]string, error) {
	if q.Params != nil && q.Params.Kind() != '{' {
		return nil, q.refuse(ErrMalformed, "params is not an object")
	}
	switch q.Method {
	case protocol.MethodElicit:
		e, err := q.elicitation()
		if err != nil {
			return nil, err
		}
		return []string{"elicitation." + e.Mode}, nil
	case protocol.MethodCreateMessage:
		p, err := q.sampling()
		if err != nil {
			return nil, err
		}
		need := []string{"sampling"}
		if p.Tools != nil || p.ToolChoice != nil {
			need = append(need, "sampling.tools")
		}
		if p.IncludeContext == "thisServer" || p.IncludeContext == "allServers" {
			need = append(need, "sampling.context")
		}
		return need, nil
	case protocol.MethodListRoots:
		return []string{"roots"}, nil
	}
	return nil, q.refuse(ErrUnknownMethod, "")
}

func supports(c protocol.ClientCapabilities, need string) bool {
	switch need {
	case "elicitation.form":
		return c.SupportsForm()
	case "elicitation.url":
		return c.SupportsURL()
	case "sampling":
		return c.SupportsSampling()
	case "sampling.tools":
		return c.SupportsSamplingTools()
	case "sampling.context":
		return c.SupportsSamplingContext()
	case "roots":
		return c.SupportsRoots()
	}
	return false
}

// elicitation reads the params of an elicitation. Its Mode is one of the two.
func (q *Question) elicitation() (elicitation, error) {
	var e elicitation
	if q.Params == nil || json.Unmarshal(q.Params, &e) != nil {
		return e, q.refuse(ErrMalformed, "params")
	}
	switch e.Mode {
	case "", protocol.ElicitForm:
		e.Mode = protocol.ElicitForm
		_, err := q.form(e)
		return e, err
	case protocol.ElicitURL:
		u, err := url.Parse(e.URL)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return e, q.refuse(ErrMalformed, "url is not an address of the web")
		}
		if u.User != nil { // it reads as if it led to where the name says
			return e, q.refuse(ErrMalformed, "url has a user name in it")
		}
		return e, nil
	}
	return e, q.refuse(ErrMalformed, "mode")
}

func (q *Question) sampling() (*protocol.CreateMessageParams, error) {
	p := new(protocol.CreateMessageParams)
	if q.Params == nil || json.Unmarshal(q.Params, p) != nil {
		return nil, q.refuse(ErrMalformed, "params")
	}
	return p, nil
}

// isConsent reports whether an answer agrees to something of the moment: a
// form with the single, required, boolean field "ok", or an address to open.
// Such an answer holds for the question that was shown and no other.
func (q *Question) isConsent() bool {
	e, err := q.elicitation()
	if q.Method != protocol.MethodElicit || err != nil {
		return false
	}
	if e.Mode == protocol.ElicitURL {
		return true
	}
	f, err := q.form(e)
	if err != nil || len(f.Schema.Properties) != 1 {
		return err != nil
	}
	p := f.Schema.Properties[0]
	_, boolean := p.Schema.(*protocol.BooleanSchema)
	return boolean && p.Name == "ok" && slices.Contains(f.Schema.Required, "ok")
}

// readQuestions returns the questions of a round, sorted by key. meta is the
// result's _meta.
func readQuestions(requests protocol.InputRequests, meta protocol.Object) []Question {
	var invalid map[string][]string
	if raw := meta[metaInvalid]; raw != nil && json.Unmarshal(raw, &invalid) != nil {
		invalid = nil
	}
	qs := make([]Question, len(requests))
	for i, r := range requests {
		qs[i] = Question{Key: r.Key, Method: r.Method, Params: r.Params.Clone(), Invalid: invalid[r.Key]}
		_ = qs[i].Params.Compact() // it was decoded, so it is valid
	}
	slices.SortFunc(qs, func(a, b Question) int { return strings.Compare(a.Key, b.Key) })
	return qs
}
