package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// offered are the names of the tools.
type offered map[string]bool

// checkList lists the tools, several times for the table. It reports false
// where nothing else can be checked.
func checkList(ctx context.Context, r *report, e *endpoint) (offered, bool) {
	const check, repeats = "tools/list", 10
	tools := offered{}
	got, _, err := e.rpc(ctx, call{method: protocol.MethodListTools, kind: kindFirst})
	for i := 0; err == nil && i < repeats; i++ {
		got, _, err = e.rpc(ctx, call{method: protocol.MethodListTools, kind: kindList})
	}
	if err != nil {
		r.fail(check, "%v", err)
		return nil, false
	}
	for _, t := range got.Tools {
		tools[t.Name] = true
	}
	missing := ""
	for _, s := range scripts {
		if !s.optional && !tools[s.tool] {
			missing += " " + s.tool
		}
	}
	switch {
	case len(tools) == 0:
		r.fail(check, "no tools")
		return nil, false
	case missing != "" && slices.ContainsFunc(scripts, func(s script) bool { return !s.optional && tools[s.tool] }):
		r.fail(check, "not offered:%s", missing)
	default:
		r.pass(check, "%d tools", len(tools))
	}
	return tools, true
}

// script is a call of a tool with canned answers.
type script struct {
	tool      string
	arguments map[string]any
	rounds    []map[string]any // the answers to each round's questions, by key
	want      string           // text of the result
	optional  bool             // need not be offered
	declines  bool             // the last answer is a no: the result is an error without effect
}

func accept(content map[string]any) any {
	return map[string]any{"action": "accept", "content": content}
}

func says(text string) any {
	return map[string]any{"role": "assistant", "model": "canned", "content": map[string]any{"type": "text", "text": text}}
}

var cannedRoots = map[string]any{"roots": []any{map[string]any{"uri": "file:///smoke", "name": "smoke"}}}

// The tools of the contract, in its order, and one that the endpoint may have
// beside them.
var scripts = []script{
	greeting,
	{tool: "test_incomplete_result_sampling", want: "The model says: Paris",
		rounds: []map[string]any{{"capital_question": says("Paris")}}},
	{tool: "test_incomplete_result_list_roots", want: "Roots: file:///smoke",
		rounds: []map[string]any{{"client_roots": cannedRoots}}},
	{tool: "test_incomplete_result_request_state", want: "state-ok, confirmed",
		rounds: []map[string]any{{"confirm": accept(map[string]any{"ok": true})}}},
	{tool: "test_incomplete_result_multiple_inputs", want: "Name: Alice. Greeting: Good day. Roots: file:///smoke",
		rounds: []map[string]any{{"user_name": accept(map[string]any{"name": "Alice"}), "greeting": says("Good day"), "client_roots": cannedRoots}}},
	multiRound("Alice"),
	{tool: sameQuestion, want: "Hello, Alice!",
		rounds: []map[string]any{{"user_name": accept(map[string]any{"name": "Alice"})}}},
	{tool: "refund_order", optional: true, declines: true, rounds: []map[string]any{
		{"order": accept(map[string]any{"order": "A-1001", "reason": "damaged"})},
		{"confirm": map[string]any{"action": "decline"}},
	}},
}

// greeting and sameQuestion ask the same under the same key.
var greeting = script{
	tool: "test_tool_with_elicitation", arguments: map[string]any{"city": "Vienna"}, want: "Hello, Alice!",
	rounds: []map[string]any{{"user_name": accept(map[string]any{"name": "Alice"})}},
}

const sameQuestion = "test_incomplete_result_elicitation"

func multiRound(name string) script {
	return script{
		tool: "test_incomplete_result_multi_round", want: "Hi " + name + ", your favorite color is blue.",
		rounds: []map[string]any{
			{"step1": accept(map[string]any{"name": name})},
			{"step2": accept(map[string]any{"color": "blue"})},
		},
	}
}

// anonymousText is what a confirmation tells a caller without identity.
const anonymousText = "This tool needs a caller who is signed in."

// checkTools plays every script.
func checkTools(ctx context.Context, r *report, e *endpoint, tools offered) {
	for _, s := range scripts {
		if !tools[s.tool] {
			r.skip(s.tool, "not offered")
			continue
		}
		note, err := e.play(ctx, s, kindRound1, kindLater)
		r.judge(err, s.tool, "%s", note)
	}
}

// play runs a script and says how it went.
func (e *endpoint) play(ctx context.Context, s script, first, later string) (string, error) {
	c := call{method: protocol.MethodCallTool, tool: s.tool, arguments: s.arguments, kind: first}
	for n, answers := range s.rounds {
		got, _, err := e.rpc(ctx, c)
		switch {
		case err != nil:
			return "", fmt.Errorf("round %d: %w", n+1, err)
		case s.declines && !e.authenticated() && got.IsError && got.text() == anonymousText:
			return fmt.Sprintf("%d rounds, then refused to a caller who is not signed in", n+1), nil
		case got.ResultType != "input_required" || got.RequestState == "":
			return "", fmt.Errorf("round %d does not ask", n+1)
		case len(got.InputRequests) != len(answers):
			return "", fmt.Errorf("round %d asks %d questions, want %d", n+1, len(got.InputRequests), len(answers))
		}
		for key := range answers {
			if got.InputRequests[key] == nil {
				return "", fmt.Errorf("round %d does not ask %q", n+1, key)
			}
		}
		c.answers, c.state, c.kind = answers, got.RequestState, later
	}
	got, _, err := e.rpc(ctx, c)
	rounds := len(s.rounds) + 1
	switch {
	case err != nil:
		return "", fmt.Errorf("round %d: %w", rounds, err)
	case got.ResultType != "complete":
		return "", fmt.Errorf("round %d does not finish", rounds)
	case s.declines && !got.IsError:
		return "", errors.New("it went on after a no")
	case s.declines:
		return fmt.Sprintf("%d rounds, ended by a no", rounds), nil
	case got.IsError || got.text() != s.want:
		return "", fmt.Errorf("round %d finishes with another result than the answers make", rounds)
	}
	return fmt.Sprintf("%d rounds", rounds), nil
}

// checkParallel plays many flows at one time, each with answers of its own.
func checkParallel(ctx context.Context, r *report, e *endpoint, tools offered) {
	check := fmt.Sprintf("%d flows at one time", e.parallel)
	if !tools[multiRound("").tool] {
		r.skip(check, "%s is not offered", multiRound("").tool)
		return
	}
	errs := make([]error, e.parallel)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			_, errs[i] = e.play(ctx, multiRound(fmt.Sprintf("Flow %d", i)), kindBurstRound1, kindBurstLater)
		})
	}
	all.Wait()
	failed := slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(failed) > 0 {
		r.fail(check, "%d failed; one: %s", len(failed), strings.ReplaceAll(failed[0].Error(), "\n", " "))
		return
	}
	r.pass(check, "each has its own answers")
}
