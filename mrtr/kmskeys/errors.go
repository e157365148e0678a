package kmskeys

import (
	"fmt"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/awsfailure"
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

// lasting reports whether a failure stays until somebody mends the key, its
// policy or the settings. All others may be over with the next call: credentials
// that KMS does not take are the caller's trouble and not one key's.
func (e *Error) lasting() bool {
	switch e.Kind {
	case KindDenied:
		return e.Code == "AccessDeniedException"
	case KindNotFound, KindDisabled, KindInvalidState, KindWrongKey:
		return true
	}
	return false
}

// toError makes an *Error of what the AWS SDK returned.
func toError(err error) *Error {
	f := awsfailure.Of(err)
	e := &Error{Kind: kindOf(f.Code), Code: f.Code, Detail: f.Detail}
	if e.Kind == "" {
		e.Kind = Kind(f.Kind())
	}
	return e
}

// kindOf returns the kind of a code that is KMS's own; none for any other.
func kindOf(code string) Kind {
	switch code {
	case "LimitExceededException":
		return KindThrottled
	case "InvalidGrantTokenException":
		return KindDenied
	case "NotFoundException", "InvalidArnException":
		return KindNotFound
	case "DisabledException":
		return KindDisabled
	case "KMSInvalidStateException":
		return KindInvalidState
	case "InvalidKeyUsageException":
		return KindWrongKey
	case "KMSInternalException", "DependencyTimeoutException", "KeyUnavailableException":
		return KindInternal
	}
	return ""
}
