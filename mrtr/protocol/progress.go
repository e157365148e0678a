package protocol

import "github.com/go-json-experiment/json/jsontext"

// ProgressParams are the params of notifications/progress (Progress, Progress
// Flow). They are sent for a request that set [MetaProgressToken].
type ProgressParams struct {
	ProgressToken jsontext.Value `json:"progressToken"`    // the request's, as it came
	Progress      float64        `json:"progress"`         // grows with every notification
	Total         *float64       `json:"total,omitzero"`   // nil: not known
	Message       string         `json:"message,omitzero"` // for people
	Meta          Object         `json:"_meta,omitzero"`
}
