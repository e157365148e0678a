package peers

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

type note struct {
	Text string `json:"text"`
}

// ours serves greet with this module, and diary, which asks for three notes one
// after the other.
func ours(tb testing.TB) http.Handler {
	srv := mrtr.NewServer(protocol.Implementation{Name: "bench", Version: "1.0.0"}, nil)
	mrtr.AddTool(srv, mrtr.Tool{Name: "greet", Description: "Greets."},
		func(_ context.Context, _ *mrtr.Call, in greetInput) (*mrtr.Result, error) {
			return mrtr.Text("Hello, " + in.Name + "!"), nil
		})
	mrtr.AddTool(srv, mrtr.Tool{Name: "diary", Description: "Takes three notes."},
		func(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
			for _, key := range []string{"first", "second", "third"} {
				if _, err := mrtr.Ask[note](c, key, "What is the "+key+" note?"); err != nil {
					return nil, err
				}
			}
			return mrtr.Text("Noted."), nil
		})

	secret := make([]byte, requeststate.MinSecretSize)
	_, _ = rand.Read(secret)
	keys, err := requeststate.NewStaticKeys(secret)
	require.NoError(tb, err)
	h, err := srv.Handler(mrtr.HandlerOptions{Keys: keys, Audience: "bench", Logger: slog.New(slog.DiscardHandler)})
	require.NoError(tb, err)
	return h
}

// diaryBody is a call of diary that answers one key, if any.
func diaryBody(tb testing.TB, state, key, text string) []byte {
	params := map[string]any{
		"name":      "diary",
		"arguments": map[string]any{},
		"_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "bench", "version": "1.0.0"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": map[string]any{}},
		},
	}
	if key != "" {
		params["requestState"] = state
		params["inputResponses"] = map[string]any{key: map[string]any{"action": "accept", "content": note{Text: text}}}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
	require.NoError(tb, err)
	return body
}

// requestState plays one round and returns the state of its answer.
func requestState(tb testing.TB, h http.Handler, body []byte) string {
	rec := post(h, newPost(callHeader("diary")), body)
	require.Equal(tb, http.StatusOK, rec.Code, rec.Body.String())
	var answer struct {
		Result struct {
			RequestState string `json:"requestState"`
		} `json:"result"`
	}
	require.NoError(tb, json.Unmarshal(rec.Body.Bytes(), &answer))
	require.NotEmpty(tb, answer.Result.RequestState)
	return answer.Result.RequestState
}

// BenchmarkDiaryRound is a round that opens a state with 1 kB of answers in it and
// seals another one: to be held against BenchmarkCall/mrtr. token-bytes is the
// length of the state that it opens, token-budget what the design allows one
// with such a log and one question open.
func BenchmarkDiaryRound(b *testing.B) {
	h := ours(b)
	state := requestState(b, h, diaryBody(b, "", "", ""))
	state = requestState(b, h, diaryBody(b, state, "first", strings.Repeat("n", 1000)))
	measure(b, h, callHeader("diary"), diaryBody(b, state, "second", "short"), `"third"`)
	logged := len(`{"text":""}`) + 1000 + 90 + len("first")
	b.ReportMetric(float64(len(state)), "token-bytes")
	b.ReportMetric(float64(4*logged/3+700+len("diary")), "token-budget")
}
