package main

import (
	"context"
	"fmt"

	"github.com/mrtr-lambda/mrtr-lambda/conformance/fixture"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// addReportingTools adds the tools that report while they run, and those about
// what this server does not do: its lists never change, and its replies come
// whole.
func addReportingTools(s *mrtr.Server) {
	add(s, "test_tool_with_progress", "Reports progress in three steps.", func(_ context.Context, c *mrtr.Call, _ fixture.Input) (*mrtr.Result, error) {
		for _, done := range []float64{0, 50, 100} {
			c.Progress(done, 100, fmt.Sprintf("Completed step %v of 100", done))
		}
		return mrtr.Text("Tool with progress executed successfully"), nil
	})
	add(s, "test_tool_with_logging", "Logs three messages.", logThrice)
	add(s, "test_logging_tool", "Logs three messages, to clients that ask for them.", logThrice)
	for _, t := range [...]struct{ name, description, text string }{
		{"test_trigger_tool_change", "Changes nothing.", "The list of tools does not change while this server runs."},
		{"test_trigger_prompt_change", "Changes nothing.", "The list of prompts does not change while this server runs."},
		{"test_reconnection", "Replies at once.", "The reply is whole: there is no stream to come back to."},
	} {
		add(s, t.name, t.description, func(context.Context, *mrtr.Call, fixture.Input) (*mrtr.Result, error) {
			return mrtr.Text(t.text), nil
		})
	}
}

func logThrice(_ context.Context, c *mrtr.Call, _ fixture.Input) (*mrtr.Result, error) {
	for _, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		c.Log(protocol.LevelInfo, "conformance", text)
	}
	return mrtr.Text("Tool with logging executed successfully"), nil
}
