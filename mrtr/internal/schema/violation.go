package schema

import (
	"strconv"
	"strings"
)

// A Violation is one way in which a value does not fit its schema. It can be
// shown to anybody who may see the schema: it holds nothing of the value.
type Violation struct {
	// Pointer is the RFC 6901 pointer to the offending part, empty for the whole
	// value, at most 256 bytes. It leads to the innermost part whose name the
	// schema declares.
	Pointer string
	// Rule is a fixed text that reads well after the pointer.
	Rule string
}

// String joins pointer and rule, for example "/email must be an email address".
func (v Violation) String() string {
	if v.Pointer == "" {
		return "the value " + v.Rule
	}
	return v.Pointer + " " + v.Rule
}

const (
	maxViolations = 8   // reported for one value
	maxPointer    = 256 // bytes of a reported pointer
)

// The rules. Those on types are made by typeSet.rule.
const (
	ruleInvalidJSON  = "is not a valid JSON value"
	ruleDepth        = "is nested too deeply"
	ruleEffort       = "is too large to be checked"
	ruleNever        = "is not allowed"
	ruleRequired     = "is required"
	ruleEnum         = "is not one of the allowed values"
	ruleConst        = "is not the required value"
	ruleMinLength    = "is too short"
	ruleMaxLength    = "is too long"
	rulePattern      = "does not have the required form"
	ruleMinimum      = "is too small"
	ruleMaximum      = "is too large"
	ruleMultiple     = "is not a multiple of the required step"
	ruleIntegerForm  = "must be written as a whole number, without fraction and exponent"
	ruleIntegerRange = "is out of the range of 64-bit integers"
	ruleFloatRange   = "is out of the range of 64-bit floating point numbers"
	ruleMinItems     = "has too few items"
	ruleMaxItems     = "has too many items"
	ruleUnique       = "has equal items"
	ruleContainsFew  = "has too few items of the required kind"
	ruleContainsMany = "has too many items of the required kind"
	ruleMinMembers   = "has too few members"
	ruleMaxMembers   = "has too many members"
	ruleExtra        = "has a member that is not allowed"
	ruleMemberName   = "has a member with a name that is not allowed"
	ruleMember       = "has a member that does not match the schema"
	ruleAnyOf        = "does not match any of the alternatives"
	ruleOneOf        = "matches more than one of the alternatives"
	ruleNot          = "matches what is excluded"
	ruleEmail        = "must be an email address"
	ruleURI          = "must be an absolute URI"
	ruleDate         = "must be a date, as in 2006-01-02"
	ruleDateTime     = "must be a date and time with zone, as in 2006-01-02T15:04:05Z"
)

// A step leads from a value to one of its parts.
type step struct {
	name   string // a member's name; only for a declared one
	index  int    // an item's index; -1 for a member
	hidden bool   // a member whose name the client chose
}

// pointer renders path as far as it may be shown. It reports whether that was
// all of it.
func pointer(path []step) (string, bool) {
	var b []byte
	for _, s := range path {
		if s.hidden {
			return string(b), false
		}
		n := len(b)
		b = append(b, '/')
		if s.index >= 0 {
			b = strconv.AppendInt(b, int64(s.index), 10)
		} else {
			b = append(b, escapePointer(s.name)...)
		}
		if len(b) > maxPointer {
			return string(b[:n]), false
		}
	}
	return string(b), true
}

func escapePointer(name string) string {
	if !strings.ContainsAny(name, "~/") {
		return name
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func unescapePointer(s string) string {
	if !strings.Contains(s, "~") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
}
