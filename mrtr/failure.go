package mrtr

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/replay"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// failure is an error that ends a request with a JSON-RPC error. What the
// client sees is fixed text; cause and reason are for the log.
type failure struct {
	status int
	rpc    jsonrpc.Error
	reason string // a short word for logs and metrics; empty: the code says it all
	cause  error  // may be nil

	challenge string // WWW-Authenticate; empty: none
}

func (f *failure) Error() string {
	if f.cause != nil {
		return f.cause.Error()
	}
	return f.rpc.Message
}

func (f *failure) Unwrap() error { return f.cause }

func fail(status, code int, message string) *failure {
	return &failure{status: status, rpc: jsonrpc.Error{Code: code, Message: message}}
}

func (f *failure) because(reason string, cause error) *failure {
	f.reason, f.cause = reason, cause
	return f
}

func (f *failure) with(data any) *failure {
	f.rpc.Data = mustJSON(data)
	return f
}

func invalidParams(why string) *failure {
	return fail(http.StatusBadRequest, jsonrpc.CodeInvalidParams, "Invalid params: "+why)
}

func headerMismatch(why string) *failure {
	return fail(http.StatusBadRequest, protocol.CodeHeaderMismatch, "Header mismatch: "+why)
}

func internal(reason string, cause error) *failure {
	return fail(http.StatusOK, jsonrpc.CodeInternalError, "Internal error").because(reason, cause)
}

// refusedMessage is all that a client learns of a state that is not accepted,
// whatever the reason.
const refusedMessage = "Invalid params: this requestState cannot be continued; start the call again without it"

var refusedData = jsontext.Value(`{"restart":true}`)

func refused(reason string, cause error) *failure {
	f := invalidParams("").because(reason, cause)
	f.rpc.Message, f.rpc.Data = refusedMessage, refusedData
	return f
}

const unavailableMessage = "The service is temporarily unavailable"

// asFailure maps any error to what the client gets. It is the one place where
// that is decided.
func asFailure(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if a, ok := errors.AsType[*AuthorizationError](err); ok {
		return a.failure()
	}
	if r, ok := errors.AsType[*requeststate.RefusedError](err); ok {
		return refused(string(r.Reason), err)
	}
	switch {
	case errors.Is(err, requeststate.ErrUnavailable):
		return fail(http.StatusServiceUnavailable, jsonrpc.CodeInternalError, unavailableMessage).because("keys_unavailable", err)
	case errors.Is(err, replay.ErrDiverged):
		return refused("diverged", err)
	case errors.Is(err, replay.ErrMisuse):
		return internal("misuse", err)
	}
	if public, ok := errors.AsType[*PublicError](err); ok {
		return fail(http.StatusOK, jsonrpc.CodeInternalError, public.text)
	}
	return internal("error", err)
}

// mustJSON encodes a value that this package made.
func mustJSON(v any) jsontext.Value {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("mrtr: encoding %T: %v", v, err))
	}
	return b
}
