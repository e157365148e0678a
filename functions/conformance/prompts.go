package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// addPrompts adds the prompts.
func addPrompts(s *mrtr.Server) {
	mrtr.AddPrompt(s, mrtr.Prompt{
		Name: "test_simple_prompt", Description: "A prompt without arguments.",
	}, func(context.Context, *mrtr.Call, map[string]string) (*protocol.GetPromptResult, error) {
		return fromUser(protocol.Text("This is a simple prompt for testing.")), nil
	})
	mrtr.AddPrompt(s, mrtr.Prompt{
		Name: "test_prompt_with_arguments", Description: "A prompt with two arguments.",
		Arguments: []protocol.PromptArgument{
			{Name: "arg1", Description: "First test argument", Required: true},
			{Name: "arg2", Description: "Second test argument", Required: true},
		},
		Complete: map[string]mrtr.Completer{"arg1": complete},
	}, func(_ context.Context, _ *mrtr.Call, args map[string]string) (*protocol.GetPromptResult, error) {
		return fromUser(protocol.Text(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"]))), nil
	})
	mrtr.AddPrompt(s, mrtr.Prompt{
		Name: "test_prompt_with_embedded_resource", Description: "A prompt with a resource.",
		Arguments: []protocol.PromptArgument{{Name: "resourceUri", Description: "URI of the resource to embed", Required: true}},
	}, func(_ context.Context, _ *mrtr.Call, args map[string]string) (*protocol.GetPromptResult, error) {
		return fromUser(
			&protocol.EmbeddedResource{Resource: protocol.ResourceContents{
				URI: args["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing.",
			}},
			protocol.Text("Please process the embedded resource above."),
		), nil
	})
	mrtr.AddPrompt(s, mrtr.Prompt{
		Name: "test_prompt_with_image", Description: "A prompt with an image.",
	}, func(context.Context, *mrtr.Call, map[string]string) (*protocol.GetPromptResult, error) {
		return fromUser(
			&protocol.ImageContent{Data: pixel(), MIMEType: "image/png"},
			protocol.Text("Please analyze the image above."),
		), nil
	})
	mrtr.AddPrompt(s, mrtr.Prompt{
		Name: "test_input_required_result_prompt", Description: "A prompt that asks back.",
	}, func(_ context.Context, c *mrtr.Call, _ map[string]string) (*protocol.GetPromptResult, error) {
		user, err := mrtr.Ask[struct {
			Context string `json:"context"`
		}](c, "user_context", "What context should the prompt use?")
		if err != nil {
			return nil, err
		}
		return fromUser(protocol.Text("Use this context: " + user.Context)), nil
	})
}

// fromUser returns a prompt of messages from the user.
func fromUser(contents ...protocol.Content) *protocol.GetPromptResult {
	res := &protocol.GetPromptResult{}
	for _, c := range contents {
		res.Messages = append(res.Messages, protocol.PromptMessage{Role: "user", Content: c})
	}
	return res
}

// complete suggests the values that begin with what was typed.
func complete(_ context.Context, typed string, _ map[string]string) ([]string, error) {
	var found []string
	for _, v := range []string{"testValue1", "testValue2", "other"} {
		if strings.HasPrefix(v, typed) {
			found = append(found, v)
		}
	}
	return found, nil
}
