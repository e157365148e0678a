package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// TestTools plays the tools that the suite cannot judge here, since it wants
// them to ask in the middle of a call, and those that it only lists.
func TestTools(t *testing.T) {
	address := map[string]any{"street": "1 Main St", "city": "Springfield"}
	for _, tt := range []struct {
		name         string
		tool         string
		arguments    map[string]any
		capabilities *protocol.ClientCapabilities
		answers      mrtrtest.Answers
		asked        string // params of the first question
		want         string
		isError      bool
	}{{
		name: "sampling", tool: "test_sampling", arguments: map[string]any{"prompt": "Say hi"},
		answers: mrtrtest.Answers{"answer": "hi"},
		asked:   `{"messages":[{"role":"user","content":{"type":"text","text":"Say hi"}}],"maxTokens":100}`,
		want:    `LLM response: {"type":"text","text":"hi"}`,
	}, {
		name: "elicitation", tool: "test_elicitation", arguments: map[string]any{"message": "Who?"},
		answers: mrtrtest.Answers{"user": map[string]any{"username": "alice", "email": "a@b.example"}},
		asked: `{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{
			"username":{"type":"string","description":"User's response"},"email":{"type":"string","description":"User's email address"}},"required":["username","email"]}}`,
		want: `Elicitation completed: {"username":"alice","email":"a@b.example"}`,
	}, {
		name: "defaults", tool: "test_elicitation_sep1034_defaults",
		answers: mrtrtest.Answers{"user": map[string]any{"age": 31}},
		asked: `{"mode":"form","message":"Please review and update the form fields with defaults","requestedSchema":{"type":"object","properties":{
			"name":{"type":"string","description":"User name","default":"John Doe"},
			"age":{"type":"integer","description":"User age","default":30},
			"score":{"type":"number","description":"User score","default":95.5},
			"status":{"type":"string","description":"User status","enum":["active","inactive","pending"],"default":"active"},
			"verified":{"type":"boolean","description":"Verification status","default":true}}}}`,
		want: `Elicitation completed: {"age":31}`,
	}, {
		name: "choices", tool: "test_elicitation_sep1330_enums",
		answers: mrtrtest.Answers{"choices": map[string]any{"untitledMulti": []string{"option1", "option3"}}},
		asked:   choices,
		want:    `Elicitation completed: {"action":"accept","content":{"untitledMulti":["option1","option3"]}}`,
	}, {
		name: "capabilities: both", tool: "test_input_required_result_capabilities",
		answers: mrtrtest.Answers{"user_name": map[string]any{"name": "Alice"}, "greeting": "Hi"}, want: "Answers: 2",
	}, {
		name: "capabilities: form", tool: "test_input_required_result_capabilities",
		capabilities: &protocol.ClientCapabilities{Elicitation: &protocol.ElicitationCapability{}},
		answers:      mrtrtest.Answers{"user_name": map[string]any{"name": "Alice"}}, want: "Answers: 1",
	}, {
		name: "capabilities: none", tool: "test_input_required_result_capabilities",
		capabilities: &protocol.ClientCapabilities{}, want: "There is nobody to ask.",
	}, {
		name: "missing capability declared", tool: "test_missing_capability",
		answers: mrtrtest.Answers{"capital_question": "Paris"}, want: "The model says: Paris",
	}, {
		name: "2020-12: phone", tool: "json_schema_2020_12_tool",
		arguments: map[string]any{"contactMethod": "phone", "phone": "1", "address": address},
		want:      "The arguments fit the schema.",
	}, {
		name: "2020-12: then", tool: "json_schema_2020_12_tool", isError: true,
		arguments: map[string]any{"contactMethod": "phone", "email": "a@b.example"},
		want:      "The arguments do not fit the tool's input schema:\n\"/phone\" is required",
	}, {
		name: "2020-12: $ref", tool: "json_schema_2020_12_tool", isError: true,
		arguments: map[string]any{"email": "a@b.example", "address": map[string]any{"street": 1}},
		want:      "The arguments do not fit the tool's input schema:\n\"/address/street\" must be a string",
	}, {
		name: "no stream to come back to", tool: "test_reconnection",
		want: "The reply is whole: there is no stream to come back to.",
	}} {
		t.Run(tt.name, func(t *testing.T) {
			played := mrtrtest.Play(t, mrtrtest.Local(newServer()), mrtrtest.Call{
				Name: tt.tool, Arguments: tt.arguments, Capabilities: tt.capabilities, Answers: tt.answers,
			})
			require.Equal(t, tt.want, played.Text())
			require.Equal(t, tt.isError, played.Result != nil && played.Result.IsError)
			if tt.asked != "" {
				require.JSONEq(t, tt.asked, string(played.Rounds[0].Asked[0].Params))
			}
		})
	}
}
