package lambdatest

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
)

// Result is what became of one invocation.
type Result struct {
	RequestID string
	PID       int  // of the process that served it
	Cold      bool // the first invocation of its process
	Exited    bool // the process ended during the invocation

	ContentType   string
	Payload       []byte         // all that was replied; after a function error its body
	Chunks        [][]byte       // Payload as it arrived; pieces sent at once may arrive as one
	Trailer       http.Header    // HTTP trailers of the reply
	FunctionError *FunctionError // nil if the function did well

	Logs     string        // stdout and stderr since the last invocation, the init's too if Cold
	Init     time.Duration // process start to readiness, if Cold
	Duration time.Duration // event handed over to reply complete
}

// FunctionError is an error that the function reported, or that Lambda reports
// of it.
type FunctionError struct {
	Type    string
	Message string
	Body    []byte // as reported; nil for Lambda's own
}

// Error returns type and message.
func (e *FunctionError) Error() string { return e.Type + ": " + e.Message }

// InitError is returned for a process that reports an init error, exits or
// takes too long before it asks for its first event.
type InitError struct {
	Type    string
	Message string
	Logs    string // stdout and stderr
}

// Error returns type, message and logs.
func (e *InitError) Error() string {
	s := "lambdatest: init failed: " + e.Type + ": " + e.Message
	if e.Logs != "" {
		s += "\n" + e.Logs
	}
	return s
}

// Reply is an HTTP response as a function replies it.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// Reply reads the payload as an HTTP response: the JSON form, or the streamed
// one. It is stricter than gateways are: a status from 100 to 599 is required.
func (r *Result) Reply() (*Reply, error) {
	if r.ContentType != contentTypeStream {
		head, err := parseHead(r.Payload)
		if err != nil {
			return nil, err
		}
		return head.reply([]byte(head.Body))
	}
	prelude, body, ok := bytes.Cut(r.Payload, preludeEnd)
	if !ok {
		return nil, errors.New("lambdatest: streamed reply without the end of its prelude")
	}
	head, err := parseHead(prelude)
	if err != nil {
		return nil, err
	}
	return head.reply(body)
}

var preludeEnd = make([]byte, 8)

// head is a reply's JSON, the members of both payload formats.
type head struct {
	StatusCode        int                 `json:"statusCode"`
	Headers           map[string]string   `json:"headers"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
	Cookies           []string            `json:"cookies"`
	Body              string              `json:"body"`
	IsBase64Encoded   bool                `json:"isBase64Encoded"`
}

func parseHead(b []byte) (*head, error) {
	h := new(head)
	if err := json.Unmarshal(b, h, json.RejectUnknownMembers(true)); err != nil {
		return nil, errors.New("lambdatest: reply is not a proxy response")
	}
	if h.StatusCode < 100 || h.StatusCode > 599 {
		return nil, errors.New("lambdatest: reply without a status")
	}
	return h, nil
}

func (h *head) reply(body []byte) (*Reply, error) {
	if h.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(string(body)); err != nil {
			return nil, errors.New("lambdatest: reply body is not base64")
		}
	}
	return &Reply{Status: h.StatusCode, Header: h.header(), Body: body}, nil
}

func (h *head) header() http.Header {
	out := make(http.Header)
	for name, v := range h.Headers {
		out.Set(name, v)
	}
	for name, v := range h.MultiValueHeaders {
		out[http.CanonicalHeaderKey(name)] = v
	}
	if len(h.Cookies) > 0 {
		out["Set-Cookie"] = append(out["Set-Cookie"], h.Cookies...)
	}
	return out
}
