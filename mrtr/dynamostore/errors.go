package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/aws/smithy-go"
)

// Kind says why a claim was neither made nor refused.
type Kind string

// The kinds.
const (
	KindThrottled   Kind = "throttled"   // too many requests
	KindDenied      Kind = "denied"      // the credentials are not accepted, or a policy forbids the call
	KindNotFound    Kind = "not_found"   // no such table in this region and account
	KindRejected    Kind = "rejected"    // DynamoDB refused the request otherwise, as for a table of another key
	KindInternal    Kind = "internal"    // DynamoDB failed
	KindUnreachable Kind = "unreachable" // no answer: connection, name or time-out
	KindNotSent     Kind = "not_sent"    // no request could be made: credentials, region or endpoint
	KindUnexpected  Kind = "unexpected"  // an answer that cannot be read
)

// Error is returned when DynamoDB did not say whether a claim holds. It has no
// part of a request or a reply, and not the AWS SDK's error.
type Error struct {
	Kind   Kind
	Code   string // DynamoDB's error code; empty where there was no answer
	Detail string // what the network said; may be empty
}

// Error returns the kind with code and detail.
func (e *Error) Error() string {
	s := "dynamostore: claiming a flow: " + string(e.Kind)
	if e.Code != "" {
		s += fmt.Sprintf(": %q", e.Code)
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// passes reports whether another attempt may do better.
func (e *Error) passes() bool {
	switch e.Kind {
	case KindThrottled, KindInternal, KindUnreachable, KindUnexpected:
		return true
	}
	return false
}

// toError makes an *Error of what the AWS SDK returned.
func toError(err error) *Error {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		e := &Error{Kind: kindOf(api.ErrorCode()), Code: api.ErrorCode()}
		var answer interface{ HTTPStatusCode() int }
		if e.Kind == KindRejected && errors.As(err, &answer) {
			switch status := answer.HTTPStatusCode(); {
			case status == http.StatusTooManyRequests:
				e.Kind = KindThrottled
			case status >= 500:
				e.Kind = KindInternal
			}
		}
		return e
	}
	// The messages of these two tell names, addresses and ports, no more.
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return &Error{Kind: KindUnreachable, Detail: dns.Error()}
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return &Error{Kind: KindUnreachable, Detail: op.Error()}
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &Error{Kind: KindUnreachable, Detail: "no answer in time"}
	}
	var connection interface{ ConnectionError() bool }
	if errors.As(err, &connection) && connection.ConnectionError() {
		return &Error{Kind: KindUnreachable, Detail: "connection failed"}
	}
	if _, ok := errors.AsType[*smithy.DeserializationError](err); ok {
		return &Error{Kind: KindUnexpected, Detail: "unreadable reply"}
	}
	return &Error{Kind: KindNotSent}
}

func kindOf(code string) Kind {
	switch code {
	case "ThrottlingException", "Throttling", "ProvisionedThroughputExceededException", "RequestLimitExceeded", "TooManyRequestsException":
		return KindThrottled
	case "AccessDeniedException", "UnrecognizedClientException", "InvalidSignatureException", "IncompleteSignatureException",
		"MissingAuthenticationTokenException", "MissingAuthenticationToken", "ExpiredTokenException", "ExpiredToken",
		"OptInRequired":
		return KindDenied
	case "ResourceNotFoundException":
		return KindNotFound
	case "InternalServerError", "InternalFailure", "ServiceUnavailable", "ServiceUnavailableException",
		"TransactionConflictException", "ReplicatedWriteConflictException":
		return KindInternal
	}
	return KindRejected
}
