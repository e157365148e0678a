package client_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

func never(t *testing.T) client.InputHandler {
	return func(context.Context, client.Question) (jsontext.Value, error) {
		t.Error("the user was asked")
		return nil, errors.New("asked")
	}
}

// pairs returns n times the same question, for ask.
func pairs(n int, question string) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint("q", i), question)
	}
	return all
}

// TestResultsRefused holds that nobody is asked and nothing is sent after a
// result that is not to be trusted.
func TestResultsRefused(t *testing.T) {
	good := form("?", nameSchema)
	for _, tt := range []struct {
		name, reply string
		want        error
	}{
		{"unknown resultType", `"result":{"resultType":"later","content":[]}`, &client.ResultTypeError{Method: "tools/call", Type: "later"}},
		{"empty resultType", `"result":{"resultType":"","content":[]}`, &client.ResultTypeError{Method: "tools/call", Type: ""}},
		{"resultType of another case", `"result":{"resultType":"Complete","content":[]}`, &client.ResultTypeError{Method: "tools/call", Type: "Complete"}},
		{"resultType no string", `"result":{"resultType":1,"content":[]}`, &client.ResultError{Method: "tools/call", Reason: "resultType is not a string"}},
		{"resultType null", `"result":{"resultType":null,"content":[]}`, &client.ResultError{Method: "tools/call", Reason: "resultType is not a string"}},
		{"duplicate names", `"result":{"resultType":"complete","resultType":"complete","content":[]}`, &client.ResultError{Method: "tools/call", Reason: "it is too large, or not JSON of the strict kind"}},
		{"neither questions nor state", `"result":{"resultType":"input_required"}`, &client.ResultError{Method: "tools/call", Reason: "it has neither inputRequests nor requestState"}},
		{"questions no object", `"result":{"resultType":"input_required","inputRequests":[]}`, &client.ResultError{Method: "tools/call", Reason: "inputRequests is not an object of requests"}},
		{"a question no object", ask("", "q", `1`), &client.ResultError{Method: "tools/call", Reason: "inputRequests is not an object of requests"}},
		{"state no string", `"result":{"resultType":"input_required","requestState":{"a":"secret"}}`, &client.ResultError{Method: "tools/call", Reason: "requestState is not a string"}},
		{"state empty", `"result":{"resultType":"input_required","inputRequests":{},"requestState":""}`, &client.ResultError{Method: "tools/call", Reason: "requestState is empty"}},
		{"too many questions", ask(secretState, pairs(101, good)...), &client.ResultError{Method: "tools/call", Reason: "it asks more than 100 questions"}},
		{"state null", `"result":{"resultType":"input_required","inputRequests":{},"requestState":null}`, &client.ResultError{Method: "tools/call", Reason: "requestState is not a string"}},
		{"task without an id", `"result":{"resultType":"task","status":"working"}`, &client.ResultError{Method: "tools/call", Reason: "the task has no taskId or no status"}},
		{"content no list", `"result":{"resultType":"complete","content":"secret"}`, &client.ResultError{Method: "tools/call", Reason: "it does not have the form of a result"}},

		{"unknown method", ask(secretState, "a", good, "z", `{"method":"files/read","params":{}}`), &client.QuestionError{Key: "z", Method: "files/read", Err: client.ErrUnknownMethod}},
		{"no method", ask("", "z", `{"params":{}}`), &client.QuestionError{Key: "z", Err: client.ErrUnknownMethod}},
		{"undeclared sampling", ask("", "a", good, "z", `{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`), &client.QuestionError{Key: "z", Method: "sampling/createMessage", Err: client.ErrUndeclared, Detail: "sampling"}},
		{"undeclared roots", ask("", "z", `{"method":"roots/list"}`), &client.QuestionError{Key: "z", Method: "roots/list", Err: client.ErrUndeclared, Detail: "roots"}},
		{"undeclared mode", ask("", "z", `{"method":"elicitation/create","params":{"mode":"url","message":"","url":"https://a.example/"}}`), &client.QuestionError{Key: "z", Method: "elicitation/create", Err: client.ErrUndeclared, Detail: "elicitation.url"}},
		{"unknown mode", ask("", "z", `{"method":"elicitation/create","params":{"mode":"voice"}}`), &client.QuestionError{Key: "z", Method: "elicitation/create", Err: client.ErrMalformed, Detail: "mode"}},
		{"an address that is none", ask("", "z", `{"method":"elicitation/create","params":{"mode":"url","message":"","url":"javascript:secret()"}}`), &client.QuestionError{Key: "z", Method: "elicitation/create", Err: client.ErrMalformed, Detail: "url is not an address of the web"}},
		{"an address with a user name", ask("", "z", `{"method":"elicitation/create","params":{"mode":"url","message":"","url":"https://bank.example@secret.example/"}}`), &client.QuestionError{Key: "z", Method: "elicitation/create", Err: client.ErrMalformed, Detail: "url has a user name in it"}},
		{"no schema", ask("", "z", `{"method":"elicitation/create","params":{"message":"?"}}`), &client.QuestionError{Key: "z", Method: "elicitation/create", Err: client.ErrMalformed, Detail: "requestedSchema"}},
		{"a schema that leads out", ask("", "z", form("?", `{"type":"object","properties":{"a":{"$ref":"https://x.example/s"}}}`)), &client.QuestionError{Key: "z", Method: "elicitation/create", Err: client.ErrMalformed, Detail: "requestedSchema"}},
		{"no params", ask("", "z", `{"method":"elicitation/create"}`), &client.QuestionError{Key: "z", Method: "elicitation/create", Err: client.ErrMalformed, Detail: "params"}},
		{"params no object", ask("", "z", `{"method":"elicitation/create","params":["secret"]}`), &client.QuestionError{Key: "z", Method: "elicitation/create", Err: client.ErrMalformed, Detail: "params is not an object"}},
	} {
		for _, events := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, events), func(t *testing.T) {
				f := &fake{answer: say(tt.reply), events: events}
				h := &client.Handlers{Form: fill(nil).Form}
				session := connect(t, f.start(t), h, "")
				_, err := client.CallToolWithInputs(t.Context(), session, "t", nil, never(t), nil)
				requireNoSecrets(t, err)
				require.Equal(t, tt.want, err)
				require.Len(t, f.calls, 1)
				if q, ok := errors.AsType[*client.QuestionError](err); ok {
					require.ErrorIs(t, err, q.Err)
					require.Contains(t, err.Error(), fmt.Sprintf("%q", q.Method))
				}
			})
		}
	}
}

func TestTerminalShapes(t *testing.T) {
	session := func(reply string) *mcp.ClientSession {
		f := &fake{answer: say(reply)}
		return connect(t, f.start(t), fill(nil), "")
	}
	t.Run("complete", func(t *testing.T) {
		out, err := client.CallToolWithInputs(t.Context(), session(done), "t", nil, nil, nil)
		require.NoError(t, err)
		require.Equal(t, "done", text(t, out.Result))
		require.JSONEq(t, strings.TrimPrefix(done, `"result":`), string(out.Raw))
	})
	t.Run("absent means complete", func(t *testing.T) {
		for _, stray := range []string{``, `,"inputRequests":{"a":{"method":"x"}},"requestState":1`} {
			out, err := client.CallToolWithInputs(t.Context(), session(`"result":{"content":[{"type":"text","text":"old"}]`+stray+`}`), "t", nil, never(t), nil)
			require.NoError(t, err)
			require.Equal(t, "old", text(t, out.Result))
		}
	})
	t.Run("task", func(t *testing.T) {
		out, err := client.CallToolWithInputs(t.Context(), session(
			`"result":{"resultType":"task","taskId":"7","status":"working","statusMessage":"on it","createdAt":"c","lastUpdatedAt":"u","ttlMs":60000,"pollIntervalMs":5000}`,
		), "t", nil, nil, nil)
		require.NoError(t, err)
		require.Nil(t, out.Result)
		ttl, poll := int64(60000), int64(5000)
		require.Equal(t, &client.Task{ID: "7", Status: "working", StatusMessage: "on it", CreatedAt: "c", LastUpdatedAt: "u", TTLMs: &ttl, PollIntervalMs: &poll}, out.Task)
		require.Contains(t, string(out.Raw), `"taskId":"7"`)
	})
	t.Run("task has no place in a prompt", func(t *testing.T) {
		_, err := client.GetPromptWithInputs(t.Context(), session(`"result":{"resultType":"task","taskId":"7","status":"working"}`), "p", nil, nil, nil)
		require.Equal(t, &client.ResultTypeError{Method: "prompts/get", Type: "task"}, err)
	})
	t.Run("error", func(t *testing.T) {
		_, err := client.CallToolWithInputs(t.Context(), session(`"error":{"code":-32602,"message":"unknown tool"}`), "t", nil, nil, nil)
		rpc, ok := errors.AsType[*jsonrpc.Error](err)
		require.True(t, ok)
		require.EqualValues(t, -32602, rpc.Code)
	})
}

func TestEndlessRounds(t *testing.T) {
	for _, tt := range []struct{ max, want int }{{0, 16}, {3, 3}} {
		f := &fake{answer: say(ask(secretState, "q", form("?", nameSchema)))}
		h := fill(map[string]string{"q": `{"name":"` + secretAnswer + `"}`})
		session := connect(t, f.start(t), h, "")
		var l log
		_, err := client.CallToolWithInputs(t.Context(), session, "t", map[string]string{"a": "secret"}, l.around(client.DefaultInputHandler(h)), &client.Options{MaxRounds: tt.max})
		requireNoSecrets(t, err)
		require.Equal(t, &client.RoundsError{Rounds: tt.want}, err)
		require.Len(t, f.calls, tt.want)
		require.Len(t, l.keys, tt.want-1, "the last round's question is not shown")
	}
}

// TestRetry holds what a retry carries: the same call under a new id, the
// answers, and the state as it came or none.
func TestRetry(t *testing.T) {
	const odd = "<state> & \"\\ \u2028 \U0001F600 \x7f"
	h := fill(map[string]string{"a": `{"name":"1"}`, "b": `{"name":"2"}`, "c": `{"name":"3"}`, "d": `{"name":"4"}`})
	f := &fake{answer: func(n int, _ wire) string {
		switch n {
		case 1:
			return ask("", "b", form("?", nameSchema), "a", form("?", nameSchema))
		case 2:
			return `"result":{"resultType":"input_required","requestState":"<state> & \"\\ \u2028 \ud83d\ude00 \u007f","inputRequests":{"c":` + form("?", nameSchema) + `}}`
		case 3:
			return ask("", "d", form("?", nameSchema))
		}
		return done
	}}
	session := connect(t, f.start(t), h, "")
	var l log
	_, err := client.CallToolWithInputs(t.Context(), session, "t", map[string]any{"n": jsontext.Value("9007199254740993")}, l.around(client.DefaultInputHandler(h)), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c", "d"}, l.keys)
	require.Len(t, f.calls, 4)
	ids := map[string]bool{}
	for _, r := range f.calls {
		ids[string(r.ID)] = true
		require.Equal(t, "t", r.Params.Name)
		require.Equal(t, `{"n":9007199254740993}`, string(r.Params.Arguments))
	}
	require.Len(t, ids, 4)
	require.Nil(t, f.calls[0].Params.InputResponses)
	require.Equal(t, []string{"a", "b"}, sortedKeys(f.calls[1].Params.InputResponses))
	require.JSONEq(t, `{"action":"accept","content":{"name":"2"}}`, string(f.calls[1].Params.InputResponses["b"]))
	require.Equal(t, []string{"c"}, sortedKeys(f.calls[2].Params.InputResponses))
	for i, want := range []*string{nil, nil, new(odd), nil} {
		require.Equal(t, want, f.calls[i].Params.RequestState)
	}
}

func TestPauses(t *testing.T) {
	yield := `"result":{"resultType":"input_required","requestState":"s","inputRequests":{}}`
	f := &fake{answer: say(
		`"result":{"resultType":"input_required","requestState":"s"}`, yield, yield,
		ask("s2", "q", form("?", nameSchema)), yield, `"result":{"resultType":"input_required","inputRequests":{}}`, done,
	)}
	h := fill(map[string]string{"q": `{"name":"x"}`})
	session := connect(t, f.start(t), h, "")
	var n naps
	out, err := client.CallToolWithInputs(t.Context(), session, "t", nil, client.DefaultInputHandler(h), &client.Options{Sleep: n.sleep})
	require.NoError(t, err)
	require.Equal(t, 7, out.Rounds)
	require.Len(t, n, 5)
	for i, full := range []time.Duration{200, 400, 800, 200, 400} {
		full *= time.Millisecond
		require.LessOrEqual(t, n[i], full)
		require.GreaterOrEqual(t, n[i], full/2)
	}
	require.Nil(t, f.calls[1].Params.InputResponses)
	require.Equal(t, "s", *f.calls[1].Params.RequestState)
	require.Nil(t, f.calls[6].Params.RequestState)

	t.Run("without end", func(t *testing.T) {
		f := &fake{answer: say(yield)}
		var n naps
		_, err := client.CallToolWithInputs(t.Context(), connect(t, f.start(t), h, ""), "t", nil, nil, &client.Options{Sleep: n.sleep})
		require.Equal(t, &client.RoundsError{Rounds: 16}, err)
		require.LessOrEqual(t, n[14], 10*time.Second)
	})
	t.Run("cancelled at the timer", func(t *testing.T) {
		f := &fake{answer: say(yield)}
		session := connect(t, f.start(t), h, "")
		flow := client.NewResourceRead("a:b")
		require.NoError(t, flow.Step(t.Context(), session, nil))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, flow.Step(ctx, session, nil), context.Canceled)
		require.Len(t, f.calls, 1)
	})
	t.Run("cancelled", func(t *testing.T) {
		f := &fake{answer: say(yield)}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		_, err := client.CallToolWithInputs(ctx, connect(t, f.start(t), h, ""), "t", nil, nil, &client.Options{Sleep: func(ctx context.Context, _ time.Duration) error {
			cancel()
			return ctx.Err()
		}})
		require.ErrorIs(t, err, context.Canceled)
		require.Len(t, f.calls, 1)
	})
}

func TestRestart(t *testing.T) {
	name, confirm := form("Name?", nameSchema), form("Sure?", confirmSchema)
	url := `{"method":"elicitation/create","params":{"mode":"url","message":"","url":"https://a.example/"}}`
	roots := `{"method":"roots/list"}`
	all := ask("s1", "name", name, "ok", confirm, "page", url, "roots", roots)
	answers := map[string]string{"name": `{"name":"x"}`, "ok": `{"ok":true}`}
	for _, tt := range []struct {
		title   string
		replies []string
		want    []string // the keys that the user is asked
		rounds  int
	}{
		{"identical questions", []string{all, restart, all, done}, []string{"name", "ok", "page", "roots", "ok", "page"}, 4},
		{"another text", []string{all, restart, ask("s2", "name", form("Name!", nameSchema)), done}, []string{"name", "ok", "page", "roots", "name"}, 4},
		{"another schema", []string{all, restart, ask("s2", "name", form("Name?", confirmSchema)), done}, []string{"name", "ok", "page", "roots", "name"}, 4},
		{"another key", []string{all, restart, ask("s2", "nome", name), done}, []string{"name", "ok", "page", "roots", "nome"}, 4},
		{"a later round", []string{ask("s1", "name", name), ask("s2", "roots", roots), restart, ask("s3", "name", name), ask("s4", "roots", roots), done}, []string{"name", "roots"}, 6},
		{"an answer counts once", []string{ask("s1", "name", name), restart, ask("s3", "name", name), ask("s4", "name", name), done}, []string{"name", "name"}, 5},
		{"never without a restart", []string{ask("s1", "name", name), ask("s2", "name", name), done}, []string{"name", "name"}, 3},
		{
			"refused by the server",
			[]string{ask("s1", "name", name), restart, strings.Replace(ask("s3", "name", name), `"result":{`, `"result":{"_meta":{"io.github.mrtr-lambda/invalidInputResponses":{"name":["no"]}},`, 1), done},
			[]string{"name", "name"},
			4,
		},
	} {
		t.Run(tt.title, func(t *testing.T) {
			f := &fake{answer: say(tt.replies...)}
			h := fill(answers)
			form := h.Form
			h.Form = func(ctx context.Context, q *client.FormQuestion) (protocol.ElicitResult, error) {
				if q.Key == "nome" || len(q.Schema.Properties) == 1 && q.Schema.Properties[0].Name == "ok" && q.Key == "name" {
					return protocol.ElicitResult{Action: protocol.ElicitDecline}, nil
				}
				return form(ctx, q)
			}
			session := connect(t, f.start(t), h, "")
			var l log
			out, err := client.CallToolWithInputs(t.Context(), session, "t", nil, l.around(client.DefaultInputHandler(h)), nil)
			require.NoError(t, err)
			require.Equal(t, tt.want, l.keys)
			require.Equal(t, tt.rounds, out.Rounds)
			if out.Restarts == 1 {
				i := len(f.calls) - 2
				for f.calls[i].Params.RequestState != nil {
					i--
				}
				require.Nil(t, f.calls[i].Params.InputResponses, "a fresh start carries nothing")
			}
		})
	}
	t.Run("cancelled is asked again, declined is not", func(t *testing.T) {
		q := ask("s1", "a", name, "b", name)
		f := &fake{answer: say(q, restart, q, done)}
		session := connect(t, f.start(t), fill(nil), "")
		var l log
		_, err := client.CallToolWithInputs(t.Context(), session, "t", nil, l.around(func(_ context.Context, q client.Question) (jsontext.Value, error) {
			if q.Key == "a" {
				return client.Cancel(), nil
			}
			return client.Decline(), nil
		}), nil)
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b", "a"}, l.keys)
	})
	t.Run("bound", func(t *testing.T) {
		for _, tt := range []struct{ max, want int }{{0, 1}, {-1, 0}, {3, 3}} {
			n := 0
			f := &fake{answer: func(_ int, r wire) string {
				if r.Params.RequestState != nil {
					return restart
				}
				n++
				return ask(secretState, "name", name)
			}}
			h := fill(map[string]string{"name": `{"name":"` + secretAnswer + `"}`})
			session := connect(t, f.start(t), h, "")
			_, err := client.CallToolWithInputs(t.Context(), session, "t", nil, client.DefaultInputHandler(h), &client.Options{MaxRestarts: tt.max})
			requireNoSecrets(t, err)
			e, ok := errors.AsType[*client.RestartError](err)
			require.True(t, ok)
			require.Equal(t, tt.want, e.Restarts)
			require.Equal(t, tt.want+1, n)
			_, ok = errors.AsType[*jsonrpc.Error](err)
			require.True(t, ok)
		}
	})
	t.Run("not without a state", func(t *testing.T) {
		f := &fake{answer: say(restart)}
		_, err := client.CallToolWithInputs(t.Context(), connect(t, f.start(t), fill(nil), ""), "t", nil, nil, nil)
		_, ok := errors.AsType[*jsonrpc.Error](err)
		require.True(t, ok)
		require.Len(t, f.calls, 1)
	})
}

// TestHandshakeRefusal holds that an address which the user did not open ends a
// call whose server goes on asking for it.
func TestHandshakeRefusal(t *testing.T) {
	f := &fake{handshake: true, answer: say(`"error":{"code":-32042,"message":"open","data":{"elicitations":[{"mode":"url","message":"m","url":"https://a.example/","elicitationId":"e"}]}}`)}
	h := fill(nil)
	session := connect(t, f.start(t), h, "")
	require.Equal(t, protocol.Version20251125, session.InitializeResult().ProtocolVersion)
	var l log
	_, err := client.CallToolWithInputs(t.Context(), session, "t", nil, l.around(func(context.Context, client.Question) (jsontext.Value, error) { return client.Decline(), nil }), nil)
	rpc, ok := errors.AsType[*jsonrpc.Error](err)
	require.True(t, ok)
	require.EqualValues(t, -32042, rpc.Code)
	require.Equal(t, []string{"e"}, l.keys)
	require.Len(t, f.calls, 2)
}
