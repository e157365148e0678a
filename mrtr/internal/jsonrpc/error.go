package jsonrpc

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Error is a JSON-RPC error object. Message is public: it is fixed text or
// names what the caller itself sent, never an argument, an answer or a token.
type Error struct {
	Code    int
	Message string
	Data    jsontext.Value // one JSON value; nil: left out
}

// Error returns the code and the message.
func (e *Error) Error() string { return "jsonrpc " + strconv.Itoa(e.Code) + ": " + e.Message }

// The codes of JSON-RPC 2.0.
const (
	CodeParseError     = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternalError  = -32603
)
