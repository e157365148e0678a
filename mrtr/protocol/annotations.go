package protocol

// Role is one side of a conversation (schema: Role).
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Annotations tell a client how content or a resource is meant to be used
// (Resources, Annotations).
type Annotations struct {
	Audience     []Role   `json:"audience,omitzero"`
	Priority     *float64 `json:"priority,omitzero"`     // 0 (least important) to 1; nil: not said
	LastModified string   `json:"lastModified,omitzero"` // ISO 8601, such as 2025-01-12T15:00:58Z
}
