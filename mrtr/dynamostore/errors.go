package dynamostore

import (
	"fmt"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/awsfailure"
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
	f := awsfailure.Of(err)
	e := &Error{Kind: kindOf(f.Code), Code: f.Code, Detail: f.Detail}
	if e.Kind == "" {
		e.Kind = Kind(f.Kind())
	}
	return e
}

// kindOf returns the kind of a code that is DynamoDB's own; none for any other.
func kindOf(code string) Kind {
	switch code {
	case "ProvisionedThroughputExceededException":
		return KindThrottled
	case "ResourceNotFoundException":
		return KindNotFound
	case "TransactionConflictException", "ReplicatedWriteConflictException":
		return KindInternal
	}
	return ""
}
