package protocol

import "github.com/go-json-experiment/json/jsontext"

// LoggingLevel is how severe a log message is, as in RFC 5424 (Logging, Log
// Levels). Logging is deprecated since 2026-07-28.
type LoggingLevel string

const (
	LevelDebug     LoggingLevel = "debug"
	LevelInfo      LoggingLevel = "info"
	LevelNotice    LoggingLevel = "notice"
	LevelWarning   LoggingLevel = "warning"
	LevelError     LoggingLevel = "error"
	LevelCritical  LoggingLevel = "critical"
	LevelAlert     LoggingLevel = "alert"
	LevelEmergency LoggingLevel = "emergency"
)

// Known reports whether l is one of the eight levels.
func (l LoggingLevel) Known() bool { return l.rank() > 0 }

// AtLeast reports whether l is as severe as least or more. It is false where
// either is not known.
func (l LoggingLevel) AtLeast(least LoggingLevel) bool {
	return least.Known() && l.rank() >= least.rank()
}

// rank orders the levels from 1, the least severe; 0 is none of them.
func (l LoggingLevel) rank() int {
	switch l {
	case LevelDebug:
		return 1
	case LevelInfo:
		return 2
	case LevelNotice:
		return 3
	case LevelWarning:
		return 4
	case LevelError:
		return 5
	case LevelCritical:
		return 6
	case LevelAlert:
		return 7
	case LevelEmergency:
		return 8
	}
	return 0
}

// LoggingMessageParams are the params of notifications/message (Logging, Log
// Message Notifications). They are sent for a request that set
// [MetaLogLevel], at that level or above.
type LoggingMessageParams struct {
	Level  LoggingLevel   `json:"level"`
	Logger string         `json:"logger,omitzero"`
	Data   jsontext.Value `json:"data"` // any JSON value
	Meta   Object         `json:"_meta,omitzero"`
}
