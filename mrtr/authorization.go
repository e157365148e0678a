package mrtr

import (
	"net/http"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
)

// AuthorizationError refuses a request over who sent it.
// HandlerOptions.Authenticate returns it; a Middleware or a tool may, as long as
// nothing of the reply has been sent.
type AuthorizationError struct {
	Status    int    // 401, 403 or 503 (with Retry-After); anything else counts as 403
	Challenge string // the response's WWW-Authenticate; empty: none
	Reason    string // a short word for logs and metrics
	Err       error  // the cause, for logs alone; may be nil
}

func (e *AuthorizationError) Error() string {
	if e.Err != nil {
		return "authorization: " + e.Reason + ": " + e.Err.Error()
	}
	return "authorization: " + e.Reason
}

func (e *AuthorizationError) Unwrap() error { return e.Err }

// failure returns what the client gets.
func (e *AuthorizationError) failure() *failure {
	var f *failure
	switch e.Status {
	case http.StatusUnauthorized:
		f = fail(e.Status, jsonrpc.CodeInvalidRequest, "Unauthorized")
	case http.StatusServiceUnavailable:
		f = fail(e.Status, jsonrpc.CodeInternalError, unavailableMessage)
	default:
		f = fail(http.StatusForbidden, jsonrpc.CodeInvalidRequest, "Forbidden")
	}
	f.challenge = e.Challenge
	return f.because(e.Reason, e.Err)
}
