package lambdatest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	contentTypeStream = "application/vnd.awslambda.http-integration-response"
	trailerErrorType  = "Lambda-Runtime-Function-Error-Type"
	trailerErrorBody  = "Lambda-Runtime-Function-Error-Body"
)

// invocation is one event on its way.
type invocation struct {
	event    []byte
	deadline time.Time
	chunk    func(contentType string, data []byte)
	result   *Result
	begun    chan struct{} // closed when the process starts to answer
	done     chan struct{} // closed when it has answered
}

func (i *invocation) hasBegun() bool {
	select {
	case <-i.begun:
		return true
	default:
		return false
	}
}

// routes returns the Runtime API of one process.
func (p *process) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", p.next)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/response", p.response)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/error", p.failure)
	mux.HandleFunc("POST /2018-06-01/runtime/init/error", p.initError)
	return mux
}

// next waits for an event and hands it to the process.
func (p *process) next(w http.ResponseWriter, r *http.Request) {
	select {
	case p.ready <- struct{}{}:
	default: // it asked twice
	}
	select {
	case inv := <-p.work:
		id := inv.result.RequestID
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Lambda-Runtime-Aws-Request-Id", id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(inv.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn",
			"arn:aws:lambda:"+p.opts.Region+":123456789012:function:"+p.opts.FunctionName)
		h.Set("Lambda-Runtime-Trace-Id",
			fmt.Sprintf("Root=1-%08x-%s;Parent=%s;Sampled=0", time.Now().Unix(), hex(12), hex(8)))
		_, _ = w.Write(inv.event)
	case <-r.Context().Done():
	}
}

// begin returns the invocation that the process answers, once.
func (p *process) begin(w http.ResponseWriter, r *http.Request) *invocation {
	p.mu.Lock()
	defer p.mu.Unlock()
	inv := p.current[r.PathValue("id")]
	if inv == nil || inv.hasBegun() {
		status(w, http.StatusBadRequest, `{"errorMessage":"Invalid request ID","errorType":"InvalidRequestID"}`)
		return nil
	}
	close(inv.begun)
	return inv
}

// response takes a reply as it comes.
func (p *process) response(w http.ResponseWriter, r *http.Request) {
	inv := p.begin(w, r)
	if inv == nil {
		return
	}
	defer close(inv.done)
	res := inv.result
	res.ContentType = r.Header.Get("Content-Type")
	stream := res.ContentType == contentTypeStream
	buf := make([]byte, 64<<10)
	size := 0
	for {
		n, err := r.Body.Read(buf)
		size += n
		if n > 0 && (stream || size <= MaxReply) {
			data := bytes.Clone(buf[:n])
			res.Chunks = append(res.Chunks, data)
			if inv.chunk != nil {
				inv.chunk(res.ContentType, data)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			res.FunctionError = &FunctionError{Type: "Runtime.TruncatedResponse", Message: "the reply was cut off"}
			break
		}
	}
	if !stream && size > MaxReply {
		res.Chunks = nil
		res.FunctionError = &FunctionError{Type: "Function.ResponseSizeTooLarge",
			Message: fmt.Sprintf("Response payload size exceeded maximum allowed payload size (%d bytes).", MaxReply)}
		status(w, http.StatusRequestEntityTooLarge, `{"errorMessage":"Exceeded maximum allowed payload size","errorType":"RequestEntityTooLarge"}`)
		return
	}
	res.Payload = bytes.Join(res.Chunks, nil)
	res.Trailer = r.Trailer
	if t := r.Trailer.Get(trailerErrorType); t != "" {
		res.FunctionError = trailerError(t, r.Trailer.Get(trailerErrorBody))
	}
	status(w, http.StatusAccepted, `{"status":"OK"}`)
}

// failure takes a function error.
func (p *process) failure(w http.ResponseWriter, r *http.Request) {
	inv := p.begin(w, r)
	if inv == nil {
		return
	}
	defer close(inv.done)
	body, _ := io.ReadAll(r.Body)
	inv.result.ContentType = r.Header.Get("Content-Type")
	inv.result.Payload = body
	inv.result.FunctionError = parseError(r.Header.Get(trailerErrorType), body)
	status(w, http.StatusAccepted, `{"status":"OK"}`)
}

// initError takes the report of a process that cannot start.
func (p *process) initError(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	e := parseError(r.Header.Get(trailerErrorType), body)
	select {
	case p.failed <- &InitError{Type: e.Type, Message: e.Message}:
	default:
	}
	status(w, http.StatusAccepted, `{"status":"OK"}`)
}

func status(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, body)
}

// parseError reads an error body; kind is used where the body names no type.
func parseError(kind string, body []byte) *FunctionError {
	var e struct {
		Message string `json:"errorMessage"`
		Type    string `json:"errorType"`
	}
	if json.Unmarshal(body, &e) != nil || e.Type == "" {
		e.Type = kind
	}
	return &FunctionError{Type: e.Type, Message: e.Message, Body: body}
}

func trailerError(kind, body string) *FunctionError {
	raw, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		return &FunctionError{Type: kind}
	}
	return parseError(kind, raw)
}
