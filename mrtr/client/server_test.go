package client_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/conformance/fixture"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

var serverInfo = protocol.Implementation{Name: "server", Version: "1"}

func fixtures(t *testing.T) string {
	s := mrtr.NewServer(serverInfo, nil)
	fixture.Register(s)
	return endpoint(t, s, nil)
}

var fixtureAnswers = map[string]string{
	"user_name": `{"name":"Ann"}`, "confirm": `{"ok":true}`, "step1": `{"name":"Ann"}`, "step2": `{"color":"red"}`,
}

var fixtureCalls = []struct {
	tool, want string
	rounds     int
	keys       []string
}{
	{"test_tool_with_elicitation", "Hello, Ann!", 2, []string{"user_name"}},
	{"test_incomplete_result_sampling", "The model says: Paris", 2, []string{"capital_question"}},
	{"test_incomplete_result_list_roots", "Roots: file:///work", 2, []string{"client_roots"}},
	{"test_incomplete_result_request_state", "state-ok, confirmed", 2, []string{"confirm"}},
	{"test_incomplete_result_multiple_inputs", "Name: Ann. Greeting: Paris. Roots: file:///work", 2, []string{"client_roots", "greeting", "user_name"}},
	{"test_incomplete_result_multi_round", "Hi Ann, your favorite color is red.", 3, []string{"step1", "step2"}},
	{"test_incomplete_result_elicitation", "Hello, Ann!", 2, []string{"user_name"}},
}

// TestOurServer runs the contract's tools in both eras: in the handshake era
// the questions ride on an error result.
func TestOurServer(t *testing.T) {
	for _, version := range []string{"", protocol.Version20251125, protocol.Version20250618} {
		url := fixtures(t)
		h := fill(fixtureAnswers)
		session := connect(t, url, h, version)
		for _, tt := range fixtureCalls {
			t.Run(version+"/"+tt.tool, func(t *testing.T) {
				var l log
				out, err := client.CallToolWithInputs(t.Context(), session, tt.tool, nil, l.around(client.DefaultInputHandler(h)), nil)
				require.NoError(t, err)
				require.Equal(t, tt.want, text(t, out.Result))
				require.False(t, out.Result.IsError)
				require.Equal(t, tt.rounds, out.Rounds)
				require.Equal(t, tt.keys, l.keys)
				require.Nil(t, out.Task)
			})
		}
	}
}

func TestParallelCallsDoNotCross(t *testing.T) {
	s := mrtr.NewServer(serverInfo, nil)
	type in struct {
		N int `json:"n"`
	}
	type value struct {
		V string `json:"v"`
	}
	mrtr.AddTool(s, mrtr.Tool{Name: "echo"}, func(_ context.Context, c *mrtr.Call, in in) (*mrtr.Result, error) {
		a, err := mrtr.Ask[value](c, "a", fmt.Sprint(in.N))
		if err != nil {
			return nil, err
		}
		b, err := mrtr.Ask[value](c, "b", fmt.Sprint(in.N))
		if err != nil {
			return nil, err
		}
		return mrtr.Textf("%d %s %s", in.N, a.V, b.V), nil
	})
	h := &client.Handlers{Form: func(_ context.Context, q *client.FormQuestion) (protocol.ElicitResult, error) {
		return protocol.ElicitResult{Action: protocol.ElicitAccept, Content: jsontext.Value(fmt.Sprintf(`{"v":%q}`, q.Key+q.Message))}, nil
	}}
	session := connect(t, endpoint(t, s, nil), h, "")
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() {
			out, err := client.CallToolWithInputs(t.Context(), session, "echo", map[string]int{"n": n}, client.DefaultInputHandler(h), nil)
			if !assertNoError(t, err) {
				return
			}
			if got, want := out.Result.Content[0].(*mcp.TextContent).Text, fmt.Sprintf("%d a%d b%d", n, n, n); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	wg.Wait()
}

func assertNoError(t *testing.T, err error) bool {
	if err != nil {
		t.Errorf("got error %v", err)
	}
	return err == nil
}

func TestPromptsAndResources(t *testing.T) {
	s := mrtr.NewServer(serverInfo, nil)
	type value struct {
		V string `json:"v"`
	}
	mrtr.AddPrompt(s, mrtr.Prompt{Name: "p", Arguments: []protocol.PromptArgument{{Name: "x"}}},
		func(_ context.Context, c *mrtr.Call, args map[string]string) (*protocol.GetPromptResult, error) {
			v, err := mrtr.Ask[value](c, "q", "?")
			if err != nil {
				return nil, err
			}
			return &protocol.GetPromptResult{Messages: []protocol.PromptMessage{{Role: protocol.RoleUser, Content: protocol.Text(args["x"] + v.V)}}}, nil
		})
	mrtr.AddResource(s, mrtr.Resource{URI: "test://r", Name: "r", Cache: mrtr.Cache{TTL: 1 << 40}},
		func(_ context.Context, c *mrtr.Call) ([]protocol.ResourceContents, error) {
			v, err := mrtr.Ask[value](c, "q", "?")
			if err != nil {
				return nil, err
			}
			return []protocol.ResourceContents{{URI: "test://r", Text: v.V}}, nil
		})
	h := fill(map[string]string{"q": `{"v":"yes"}`})
	session := connect(t, endpoint(t, s, nil), h, "")

	p, err := client.GetPromptWithInputs(t.Context(), session, "p", map[string]string{"x": "a "}, client.DefaultInputHandler(h), nil)
	require.NoError(t, err)
	require.Equal(t, "a yes", p.Result.Messages[0].Content.(*mcp.TextContent).Text)
	require.Equal(t, 2, p.Rounds)
	for range 2 { // the second is asked again: nothing is cached
		r, err := client.ReadResourceWithInputs(t.Context(), session, "test://r", client.DefaultInputHandler(h), nil)
		require.NoError(t, err)
		require.Equal(t, "yes", r.Result.Contents[0].Text)
		require.Equal(t, 2, r.Rounds)
	}
}

// TestInvalidAnswerIsAskedAgain shows what the server says of an answer that it
// could not use: the client's check does not know the server's rule.
func TestInvalidAnswerIsAskedAgain(t *testing.T) {
	s := mrtr.NewServer(serverInfo, nil)
	type value struct {
		N int `json:"n" form:"max=5"`
	}
	mrtr.AddTool(s, mrtr.Tool{Name: "t"}, func(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		v, err := mrtr.Ask[value](c, "q", "?")
		if err != nil {
			return nil, err
		}
		return mrtr.Textf("%d", v.N), nil
	})
	h := fill(nil)
	session := connect(t, endpoint(t, s, nil), h, "")
	var seen [][]string
	handler := func(_ context.Context, q client.Question) (jsontext.Value, error) {
		seen = append(seen, q.Invalid)
		if len(seen) == 1 {
			return client.Accept(map[string]any{"n": jsontext.Value("3.0")}) // an integer in JSON Schema, not in Go
		}
		return client.Accept(map[string]int{"n": 3})
	}
	out, err := client.CallToolWithInputs(t.Context(), session, "t", nil, handler, nil)
	require.NoError(t, err)
	require.Equal(t, "3", text(t, out.Result))
	require.Nil(t, seen[0])
	require.Len(t, seen[1], 1)
	require.True(t, strings.HasPrefix(seen[1][0], "/n "), seen[1][0])
}

func TestDecline(t *testing.T) {
	h := fill(nil)
	session := connect(t, fixtures(t), h, "")
	var l log
	no := func(context.Context, client.Question) (jsontext.Value, error) { return client.Decline(), nil }
	out, err := client.CallToolWithInputs(t.Context(), session, "test_incomplete_result_multi_round", nil, l.around(no), nil)
	require.NoError(t, err)
	require.True(t, out.Result.IsError)
	require.Equal(t, []string{"step1"}, l.keys, "no second question")
}

// TestHandshakeURL runs 2025-11-25's own way to have addresses opened.
func TestHandshakeURL(t *testing.T) {
	s := mrtr.NewServer(serverInfo, nil)
	// The handshake era's client calls again from the start, so a tool looks
	// whether the page is done with before it asks for it.
	var signedIn atomic.Bool
	mrtr.AddTool(s, mrtr.Tool{Name: "t"}, func(ctx context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		done, err := mrtr.Step(ctx, c, "look", func(context.Context) (bool, error) { return signedIn.Load(), nil })
		if err != nil {
			return nil, err
		}
		if !done {
			if err := mrtr.AskAll(c, mrtr.URL("page", "Sign in.", "https://example.com/in")); err != nil {
				return nil, err
			}
		}
		return mrtr.Text("opened"), nil
	})
	h := fill(nil)
	var asked []client.URLQuestion
	h.URL = func(_ context.Context, q *client.URLQuestion) (protocol.ElicitAction, error) {
		asked = append(asked, *q)
		signedIn.Store(true)
		return protocol.ElicitAccept, nil
	}
	for _, version := range []string{"", protocol.Version20251125} {
		asked = nil
		signedIn.Store(false)
		session := connect(t, endpoint(t, s, nil), h, version)
		out, err := client.CallToolWithInputs(t.Context(), session, "t", nil, client.DefaultInputHandler(h), nil)
		require.NoError(t, err)
		require.Equal(t, "opened", text(t, out.Result))
		require.Len(t, asked, 1)
		require.Equal(t, "https://example.com/in", asked[0].URL)
		require.Equal(t, "Sign in.", asked[0].Message)
		require.Regexp(t, `^page(-|$)`, asked[0].Key)
	}
}
