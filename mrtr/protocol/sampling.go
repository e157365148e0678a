package protocol

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// CreateMessageParams ask the client's model for a message (Sampling, Creating
// Messages). Sampling is deprecated since 2026-07-28.
type CreateMessageParams struct {
	Messages         []SamplingMessage `json:"messages"`
	ModelPreferences *ModelPreferences `json:"modelPreferences,omitzero"`
	SystemPrompt     string            `json:"systemPrompt,omitzero"`
	IncludeContext   string            `json:"includeContext,omitzero"` // "none"; "thisServer" and "allServers" are deprecated
	Temperature      *float64          `json:"temperature,omitzero"`
	MaxTokens        int               `json:"maxTokens"`
	StopSequences    []string          `json:"stopSequences,omitzero"`
	Metadata         Object            `json:"metadata,omitzero"`   // for the model's provider
	Tools            []Tool            `json:"tools,omitzero"`      // needs sampling.tools
	ToolChoice       *ToolChoice       `json:"toolChoice,omitzero"` // needs sampling.tools
}

// ModelPreferences say what matters in choosing a model (Sampling, Model
// Preferences). Priorities go from 0 (does not matter) to 1; nil is not said.
type ModelPreferences struct {
	Hints                []ModelHint `json:"hints,omitzero"` // the first that matches wins
	CostPriority         *float64    `json:"costPriority,omitzero"`
	SpeedPriority        *float64    `json:"speedPriority,omitzero"`
	IntelligencePriority *float64    `json:"intelligencePriority,omitzero"`
}

// ModelHint names a model, or part of a model's name.
type ModelHint struct {
	Name  string         `json:"name,omitzero"`
	Other jsontext.Value `json:",embed"`
}

// The modes of a [ToolChoice].
const (
	ToolChoiceAuto     = "auto"     // the model decides; the default
	ToolChoiceRequired = "required" // at least one tool
	ToolChoiceNone     = "none"     // no tool
)

// ToolChoice says how the model may use tools (Sampling, Tool Choice Modes).
type ToolChoice struct {
	Mode string `json:"mode,omitzero"` // empty: ToolChoiceAuto
}

// SamplingMessage is one message to or from a model (Sampling, Messages).
type SamplingMessage struct {
	Role    Role            `json:"role"`
	Content SamplingContent `json:"content"`
	Meta    Object          `json:"_meta,omitzero"`
}

// CreateMessageResult answers a sampling request (Sampling, Result Fields).
type CreateMessageResult struct {
	Role       Role            `json:"role"`
	Content    SamplingContent `json:"content"`
	Model      string          `json:"model"`
	StopReason string          `json:"stopReason,omitzero"` // endTurn, stopSequence, maxTokens, toolUse or the provider's own
	Meta       Object          `json:"_meta,omitzero"`
}

// SamplingContent is the content of a message: text, image, audio, tool uses
// or tool results. The wire has one block or an array of blocks; a list of
// exactly one is written as the block itself, which every revision reads.
type SamplingContent []Content

// MarshalJSONTo writes one block, or an array.
func (c SamplingContent) MarshalJSONTo(enc *jsontext.Encoder) error {
	if len(c) == 1 {
		return json.MarshalEncode(enc, c[0])
	}
	return json.MarshalEncode(enc, []Content(c))
}

// UnmarshalJSONFrom reads one block, an array, or null as nil.
func (c *SamplingContent) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '{' {
		var err error
		*c, err = readContents(dec, newContent)
		return err
	}
	one, err := readContent(dec, newContent)
	*c = SamplingContent{one}
	return err
}
