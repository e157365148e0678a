package client

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// resultTask is the resultType of the tasks extension (SEP-2663).
const resultTask = "task"

// Task is the handle of a tool call that the server goes on with by itself
// (SEP-2663, CreateTaskResult). The caller polls it, with tasks/get.
type Task struct {
	ID             string `json:"taskId"`
	Status         string `json:"status"` // working, input_required, completed, cancelled or failed
	StatusMessage  string `json:"statusMessage,omitzero"`
	CreatedAt      string `json:"createdAt,omitzero"`      // ISO 8601
	LastUpdatedAt  string `json:"lastUpdatedAt,omitzero"`  // ISO 8601
	TTLMs          *int64 `json:"ttlMs,omitzero"`          // milliseconds from its creation; nil: no end
	PollIntervalMs *int64 `json:"pollIntervalMs,omitzero"` // milliseconds; nil: not said
}

func readTask(raw jsontext.Value) (*Task, error) {
	t := new(Task)
	if json.Unmarshal(raw, t) != nil || t.ID == "" || t.Status == "" {
		return nil, &ResultError{Method: protocol.MethodCallTool, Reason: "the task has no taskId or no status"}
	}
	return t, nil
}
