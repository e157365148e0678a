package main

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/conformance/fixture"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// addAskingTools adds the tools that ask back. The seven of the contract come
// under the suite's names too.
func addAskingTools(s *mrtr.Server) {
	fixture.Register(s)
	add(s, "test_input_required_result_elicitation", "Asks for a name and greets.", fixture.Elicitation)
	add(s, "test_input_required_result_sampling", "Asks the client's model a question.", fixture.Sampling)
	add(s, "test_input_required_result_list_roots", "Asks for the client's roots.", fixture.Roots)
	add(s, "test_input_required_result_request_state", "Asks for a confirmation and checks its own state.", fixture.RequestState)
	add(s, "test_input_required_result_multiple_inputs", "Asks a user, a model and a client in one round.", fixture.MultipleInputs)
	add(s, "test_input_required_result_multi_round", "Asks two questions, one round each.", fixture.MultiRound)
	add(s, "test_input_required_result_tampered_state", "Asks for a confirmation, and refuses a state that was changed.", fixture.RequestState)
	add(s, "test_input_required_result_capabilities", "Asks what the client declared to answer.", askDeclared)
	add(s, "test_streaming_elicitation", "Asks for a name and greets.", fixture.Elicitation)
	mrtr.AddTool(s, mrtr.Tool{
		Name: "test_missing_capability", Description: "Needs a client with sampling.",
		Needs: protocol.ClientCapabilities{Sampling: &protocol.SamplingCapability{}},
	}, fixture.Sampling)

	mrtr.AddTool(s, mrtr.Tool{Name: "test_sampling", Description: "Hands a prompt to the client's model."}, sample)
	mrtr.AddTool(s, mrtr.Tool{Name: "test_elicitation", Description: "Asks with the caller's message."}, elicit)
	add(s, "test_elicitation_sep1034_defaults", "Asks with a form that has defaults.", elicitDefaults)
	add(s, "test_elicitation_sep1330_enums", "Asks with a form that has every kind of choice.", elicitChoices)
}

// askDeclared asks a user where the client can, and its model where it can.
func askDeclared(_ context.Context, c *mrtr.Call, _ fixture.Input) (*mrtr.Result, error) {
	var user struct {
		Name string `json:"name"`
	}
	var greeting protocol.CreateMessageResult
	var questions []mrtr.Question
	if c.Capabilities().SupportsForm() {
		questions = append(questions, mrtr.Form("user_name", "What is your name?", &user))
	}
	if c.Capabilities().SupportsSampling() {
		questions = append(questions, mrtr.Sampling("greeting", prompt("Generate a greeting"), &greeting))
	}
	if len(questions) == 0 {
		return mrtr.Text("There is nobody to ask."), nil
	}
	if err := mrtr.AskAll(c, questions...); err != nil {
		return nil, err
	}
	return mrtr.Textf("Answers: %d", len(questions)), nil
}

// sample hands a prompt to the client's model.
func sample(_ context.Context, c *mrtr.Call, in struct {
	Prompt string `json:"prompt"`
}) (*mrtr.Result, error) {
	var answer protocol.CreateMessageResult
	if err := mrtr.AskAll(c, mrtr.Sampling("answer", prompt(in.Prompt), &answer)); err != nil {
		return nil, err
	}
	b, err := json.Marshal(answer.Content)
	if err != nil {
		return nil, err
	}
	return mrtr.Text("LLM response: " + string(b)), nil
}

// elicit asks for a name and an address of mail.
func elicit(_ context.Context, c *mrtr.Call, in struct {
	Message string `json:"message"`
}) (*mrtr.Result, error) {
	user, err := mrtr.Ask[struct {
		Username string `json:"username" form:"description=User's response"`
		Email    string `json:"email" form:"description=User's email address"`
	}](c, "user", in.Message)
	return answered(user, err)
}

// elicitDefaults asks with a default for each kind of field.
func elicitDefaults(_ context.Context, c *mrtr.Call, _ fixture.Input) (*mrtr.Result, error) {
	user, err := mrtr.Ask[struct {
		Name     string  `json:"name,omitzero" form:"description=User name,default=John Doe"`
		Age      int     `json:"age,omitzero" form:"description=User age,default=30"`
		Score    float64 `json:"score,omitzero" form:"description=User score,default=95.5"`
		Status   string  `json:"status,omitzero" form:"description=User status,enum=active|inactive|pending,default=active"`
		Verified bool    `json:"verified,omitzero" form:"description=Verification status,default=true"`
	}](c, "user", "Please review and update the form fields with defaults")
	return answered(user, err)
}

// answered says what was answered.
func answered(v any, err error) (*mrtr.Result, error) {
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return mrtr.Text("Elicitation completed: " + string(b)), nil
}

// choices has the five ways in which a form can offer choices, the legacy one
// with enumNames among them: no form made from a type has that.
const choices = `{"mode":"form","message":"Please select options from the enum fields","requestedSchema":{"type":"object","properties":{
	"untitledSingle":{"type":"string","description":"Select one option","enum":["option1","option2","option3"]},
	"titledSingle":{"type":"string","description":"Select one option with titles","oneOf":[
		{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
	"legacyEnum":{"type":"string","description":"Select one option (legacy)","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
	"untitledMulti":{"type":"array","description":"Select multiple options","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
	"titledMulti":{"type":"array","description":"Select multiple options with titles","minItems":1,"maxItems":3,"items":{"anyOf":[
		{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}
}}}`

// elicitChoices asks as a guard and shows the answer as it came.
func elicitChoices(_ context.Context, c *mrtr.Call, _ fixture.Input) (*mrtr.Result, error) {
	answer, ok := c.InputResponse("choices")
	if !ok {
		return nil, c.RequestInput(protocol.InputRequests{
			{Key: "choices", Method: protocol.MethodElicit, Params: jsontext.Value(choices)},
		}, nil)
	}
	return mrtr.Text("Elicitation completed: " + string(answer)), nil
}

func prompt(text string) protocol.CreateMessageParams {
	return protocol.CreateMessageParams{
		Messages:  []protocol.SamplingMessage{{Role: "user", Content: protocol.SamplingContent{protocol.Text(text)}}},
		MaxTokens: 100,
	}
}
