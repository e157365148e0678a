// Package awsfailure tells what an error of the AWS SDK says without keeping
// any of it: such an error may hold the body of a request or a reply.
package awsfailure

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/aws/smithy-go"
)

// Place says how far a call got.
type Place uint8

// The places.
const (
	NotSent     Place = iota // no request could be made: credentials, region or endpoint
	Unreachable              // no answer: connection, name or time-out
	Unreadable               // an answer that cannot be read
	Answered                 // an answer, which names an error
)

// Failure is what can be told of an error. It holds nothing secret.
type Failure struct {
	Place  Place
	Code   string // the service's error code, with Answered
	Status int    // HTTP status, with Answered; 0: not known
	Detail string // what the network said; may be empty
}

// Of returns what err says.
func Of(err error) Failure {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		f := Failure{Place: Answered, Code: api.ErrorCode()}
		var answer interface{ HTTPStatusCode() int }
		if errors.As(err, &answer) {
			f.Status = answer.HTTPStatusCode()
		}
		return f
	}
	// The messages of these two tell names, addresses and ports, no more.
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return Failure{Place: Unreachable, Detail: dns.Error()}
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return Failure{Place: Unreachable, Detail: op.Error()}
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return Failure{Place: Unreachable, Detail: "no answer in time"}
	}
	var connection interface{ ConnectionError() bool }
	if errors.As(err, &connection) && connection.ConnectionError() {
		return Failure{Place: Unreachable, Detail: "connection failed"}
	}
	if _, ok := errors.AsType[*smithy.DeserializationError](err); ok {
		return Failure{Place: Unreadable, Detail: "unreadable reply"}
	}
	return Failure{}
}

// Kind names the failure in a word that holds for every AWS service. What a
// service has codes of its own for, its package looks up first.
func (f Failure) Kind() string {
	switch f.Place {
	case Unreachable:
		return "unreachable"
	case Unreadable:
		return "unexpected"
	case NotSent:
		return "not_sent"
	}
	switch f.Code {
	case "ThrottlingException", "Throttling", "TooManyRequestsException", "RequestLimitExceeded":
		return "throttled"
	case "AccessDeniedException", "UnrecognizedClientException", "InvalidSignatureException", "IncompleteSignatureException",
		"IncompleteSignature", "MissingAuthenticationTokenException", "MissingAuthenticationToken", "InvalidClientTokenId",
		"ExpiredTokenException", "ExpiredToken", "NotAuthorized", "OptInRequired":
		return "denied"
	case "InternalFailure", "InternalServerError", "ServiceUnavailable", "ServiceUnavailableException":
		return "internal"
	}
	switch {
	case f.Status == http.StatusTooManyRequests:
		return "throttled"
	case f.Status >= 500:
		return "internal"
	}
	return "rejected"
}
