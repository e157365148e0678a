package kmskeys

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/aws/smithy-go"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// Kind says why KMS gave no secret.
type Kind string

// The kinds.
const (
	KindThrottled    Kind = "throttled"     // too many requests
	KindDenied       Kind = "denied"        // the credentials are not accepted, or a policy forbids the call
	KindNotFound     Kind = "not_found"     // no such key or alias in this region and account
	KindDisabled     Kind = "disabled"      // the key is disabled
	KindInvalidState Kind = "invalid_state" // the key is pending deletion, or otherwise not usable now
	KindWrongKey     Kind = "wrong_key"     // no HMAC_256 key: HMAC_SHA_256 does not fit it
	KindRejected     Kind = "rejected"      // KMS refused the request for any other reason
	KindInternal     Kind = "internal"      // KMS failed
	KindUnreachable  Kind = "unreachable"   // no answer: connection, name or time-out
	KindNotSent      Kind = "not_sent"      // no request could be made: credentials, region or endpoint
	KindUnexpected   Kind = "unexpected"    // an answer that is no use: another key, no MAC, unreadable
)

// lasting reports whether a failure stays until somebody mends the key, its
// policy or the settings. All others may be over with the next call.
func (k Kind) lasting() bool {
	switch k {
	case KindDenied, KindNotFound, KindDisabled, KindInvalidState, KindWrongKey:
		return true
	}
	return false
}

// Error is returned when KMS was asked for a secret and gave none. It wraps
// requeststate.ErrUnavailable: it says nothing of any token. It holds no part
// of a request or a reply, and not the AWS SDK's error, which may hold the body
// of a reply.
type Error struct {
	Kind   Kind
	Code   string // KMS's error code; empty where there was no answer
	Detail string // what the network said; may be empty
}

// Error returns the kind with code and detail.
func (e *Error) Error() string {
	s := "kmskeys: generating a MAC: " + string(e.Kind)
	if e.Kind == KindWrongKey {
		s += " (the key must be of spec HMAC_256)"
	}
	if e.Code != "" {
		s += fmt.Sprintf(": %q", e.Code)
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns requeststate.ErrUnavailable.
func (e *Error) Unwrap() error { return requeststate.ErrUnavailable }

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
	if errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded) {
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
	case "ThrottlingException", "Throttling", "TooManyRequestsException", "RequestLimitExceeded", "LimitExceededException":
		return KindThrottled
	case "AccessDeniedException", "UnrecognizedClientException", "InvalidSignatureException", "IncompleteSignatureException",
		"IncompleteSignature", "MissingAuthenticationTokenException", "MissingAuthenticationToken", "InvalidClientTokenId",
		"ExpiredTokenException", "ExpiredToken", "NotAuthorized", "OptInRequired", "InvalidGrantTokenException":
		return KindDenied
	case "NotFoundException", "InvalidArnException":
		return KindNotFound
	case "DisabledException":
		return KindDisabled
	case "KMSInvalidStateException":
		return KindInvalidState
	case "InvalidKeyUsageException":
		return KindWrongKey
	case "KMSInternalException", "InternalFailure", "InternalServerError", "ServiceUnavailable", "ServiceUnavailableException",
		"DependencyTimeoutException", "KeyUnavailableException":
		return KindInternal
	}
	return KindRejected
}
