package awslambda

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
)

// defaultNamespace is the CloudWatch namespace of metrics.
const defaultNamespace = "MRTR"

// readNamespace reads MRTR_METRICS_NAMESPACE: empty means no metrics, absent the
// default.
func readNamespace(lookup func(string) (string, bool)) (string, error) {
	name, ok := lookup("MRTR_METRICS_NAMESPACE")
	if !ok {
		return defaultNamespace, nil
	}
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_/#: "
	if len(name) > 255 || strings.Trim(name, allowed) != "" || strings.HasPrefix(name, ":") || strings.HasPrefix(name, "AWS/") || name != strings.TrimSpace(name) {
		return "", fmt.Errorf("MRTR_METRICS_NAMESPACE: %q is no namespace: up to 255 letters, digits and .-_/#: that do not begin with a colon or AWS/", name)
	}
	return name, nil
}

// metrics writes CloudWatch's embedded metric format: one line of JSON a
// request. It is safe for concurrent use.
//
// Every combination of dimensions is a metric of its own, and costs as one, so
// dimensions have values from closed sets alone: names that were registered,
// methods that clients have, words of this module. Nothing that a caller chose
// becomes one.
type metrics struct {
	w         io.Writer
	namespace string
	function  string // dimension FunctionName
	reasons   closedSet
}

// newMetrics returns metrics of a Lambda function, written to w.
func newMetrics(w io.Writer, namespace, function string) *metrics {
	return &metrics{w: w, namespace: namespace, function: function, reasons: closedSet{limit: maxReasons}}
}

// observe is an mrtr.Observer.
func (m *metrics) observe(ctx context.Context, info *mrtr.RoundInfo) (context.Context, func()) {
	return ctx, func() {
		_, _ = m.w.Write(m.line(info)) // there is nobody to tell; one write, so that lines stay whole
	}
}

// Dimensions.
const (
	dimFunction = "FunctionName"
	dimMethod   = "Method"
	dimTarget   = "Target"
	dimOutcome  = "Outcome"
	dimReason   = "Reason"
)

// line returns the metrics of one request:
//
//	FunctionName                           Requests, Duration, ColdStart, KeyCalls
//	FunctionName, Method, Target           Duration, HandlerDuration, Rounds, StateBytes
//	FunctionName, Method, Target, Outcome  Requests
//	FunctionName, Reason                   Refused or Failed
//
// A request without a target has the sets without Target.
func (m *metrics) line(info *mrtr.RoundInfo) []byte {
	method, target := info.Method, dimension(info.Target)
	if method == "" {
		method = "_OTHER"
	}
	named := []string{dimFunction, dimMethod}
	if target != "" {
		named = append(named, dimTarget)
	}
	d := newDocument(m.namespace, info.Start.Add(info.Duration))

	d.directive(dimFunction)
	d.metric("Requests", "Count", "1")
	d.metric("Duration", "Milliseconds", milliseconds(info.Duration))
	d.metric("ColdStart", "Count", bit(info.Cold))
	d.metric("KeyCalls", "Count", strconv.Itoa(info.KeyCalls))

	d.directive(named...)
	d.metric("Duration", "Milliseconds", "")
	if info.Handler > 0 {
		d.metric("HandlerDuration", "Milliseconds", milliseconds(info.Handler))
	}
	if info.Round > 0 && (info.Outcome == mrtr.OutcomeComplete || info.Outcome == mrtr.OutcomeToolError) {
		d.metric("Rounds", "Count", strconv.Itoa(info.Round))
	}
	if info.StateBytes > 0 {
		d.metric("StateBytes", "Bytes", strconv.Itoa(info.StateBytes))
	}

	d.directive(append(named, dimOutcome)...)
	d.metric("Requests", "Count", "")

	reason := ""
	if info.Reason != "" {
		switch info.Outcome {
		case mrtr.OutcomeRefused:
			reason = m.reasons.admit(info.Reason)
			d.directive(dimFunction, dimReason)
			d.metric("Refused", "Count", "1")
		case mrtr.OutcomeRPCError, mrtr.OutcomeToolError:
			reason = m.reasons.admit(info.Reason)
			d.directive(dimFunction, dimReason)
			d.metric("Failed", "Count", "1")
		}
	}
	return d.end(dimFunction, dimension(m.function), dimMethod, method, dimTarget, target, dimOutcome, string(info.Outcome), dimReason, reason)
}

// maxReasons is how many reasons a process tells apart. The module has fewer;
// authors' own, of an mrtr.AuthorizationError, come on top.
const maxReasons = 64

// closedSet admits words until it is full.
type closedSet struct {
	limit int
	mu    sync.Mutex
	words map[string]bool
}

// admit returns the word, or "other" for one that is none or comes too late.
func (s *closedSet) admit(word string) string {
	if len(word) > 64 || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789_-.") != "" {
		return "other"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.words == nil {
		s.words = make(map[string]bool)
	}
	if !s.words[word] {
		if len(s.words) >= s.limit {
			return "other"
		}
		s.words[word] = true
	}
	return word
}
