package client

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrTransport says that a session was not connected over what Transport
	// returns.
	ErrTransport = errors.New("client: the session's transport was not made by client.Transport")
	// ErrAutomaticLoop says that the SDK's own loop is on: its client was made
	// without MultiRoundTrip.Disabled. The retry of that loop was not sent; over
	// anything but HTTP the session is broken by it.
	ErrAutomaticLoop = errors.New("client: the SDK's automatic multi-round-trip loop is on")
	// ErrDone says that a flow has ended: there is no next round.
	ErrDone = errors.New("client: the flow has ended")
)

// Reasons of a [*QuestionError].
var (
	ErrUnknownMethod = errors.New("the method is not known")
	ErrUndeclared    = errors.New("the client did not declare to take it")
	ErrMalformed     = errors.New("it cannot be read")
	ErrNoHandler     = errors.New("there is no handler for it")
)

// QuestionError refuses a question of the server. No answer was sent.
type QuestionError struct {
	Key    string // in inputRequests; empty for a request of a handshake server
	Method string
	Detail string // more on the reason, such as the capability; may be empty
	Err    error  // ErrUnknownMethod, ErrUndeclared, ErrMalformed or ErrNoHandler
}

func (e *QuestionError) Error() string {
	s := fmt.Sprintf("client: question %q (%q): %v", e.Key, e.Method, e.Err)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns the reason.
func (e *QuestionError) Unwrap() error { return e.Err }

// AnswerError refuses an answer that does not fit its question. It was not
// sent, and the question is still open.
type AnswerError struct {
	Key      string
	Method   string
	Problems []string // places and rules, never values
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("client: the answer to %q does not fit: %s", e.Key, strings.Join(e.Problems, "; "))
}

// UnansweredError says which questions of a round have no answer yet.
type UnansweredError struct{ Keys []string }

func (e *UnansweredError) Error() string {
	return fmt.Sprintf("client: questions without an answer: %q", e.Keys)
}

// RoundsError says that the server still asks after the last round that is
// allowed.
type RoundsError struct{ Rounds int }

func (e *RoundsError) Error() string {
	return fmt.Sprintf("client: not done after %d rounds", e.Rounds)
}

// RestartError says that the server refuses the flow's state once more than
// fresh starts are allowed.
type RestartError struct {
	Restarts int   // fresh starts that were made
	Err      error // the server's error, a *jsonrpc.Error
}

func (e *RestartError) Error() string {
	return fmt.Sprintf("client: the server asks to begin again after %d fresh starts", e.Restarts)
}

// Unwrap returns the server's error.
func (e *RestartError) Unwrap() error { return e.Err }

// ResultTypeError says that a result is of a kind that is not known, or that
// has no place in an answer to its method.
type ResultTypeError struct {
	Method string
	Type   string
}

func (e *ResultTypeError) Error() string {
	return fmt.Sprintf("client: the answer to %s has the unknown resultType %q", e.Method, e.Type)
}

// ResultError says that a result cannot be read.
type ResultError struct {
	Method string
	Reason string // a fixed text
}

func (e *ResultError) Error() string {
	return fmt.Sprintf("client: the answer to %s cannot be read: %s", e.Method, e.Reason)
}
