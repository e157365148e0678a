package mrtr_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// FuzzBody: whatever comes as a body, the answer is JSON of this protocol with
// a status of the table, and nothing but a tool's own text says what came.
func FuzzBody(f *testing.F) {
	srv := mrtr.NewServer(protocol.Implementation{Name: "fuzz", Version: "1"}, nil)
	askServer(srv)
	keys, err := requeststate.NewStaticKeys([]byte(strings.Repeat("k", requeststate.MinSecretSize)))
	require.NoError(f, err)
	h, err := srv.Handler(mrtr.HandlerOptions{Keys: keys, Audience: "fuzz", AllowAnonymous: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	require.NoError(f, err)

	call := func(name, params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":` + quote(name) + `,` + params + metaWith(allCaps) + `}}`
	}
	for _, seed := range []string{
		call("greet", ``), call("greet", `"arguments":{"a":[1,{"b":null}]},`),
		call("greet", `"inputResponses":{`+accept("user_name", `{"name":"Alice"}`)+`},`),
		call("trip", `"inputResponses":{`+accept("trip", `{"city":"Rome","class":"economy","seats":1}`)+`},`),
		call("trip", `"inputResponses":{"trip":{"action":"decline"}},`),
		call("model", `"inputResponses":{"model":{"role":"assistant","model":"m","content":[{"type":"text","text":"hi"}]}},`),
		call("roots", `"inputResponses":{"roots":{"roots":[{"uri":"file:///a"}]}},`),
		call("greet", `"requestState":"AQEAAAAA","inputResponses":{},`),
		`{"jsonrpc":"2.0","id":"🙂","method":"server/discover","params":{` + metaWith(`{}`) + `}}`,
		`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `[]`, `{`, ``,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		hr := request{body: body}.build()
		for name, member := range map[string]string{"Mcp-Method": "method", "Mcp-Name": "name", "Mcp-Protocol-Version": "io.modelcontextprotocol/protocolVersion"} {
			if _, rest, ok := strings.Cut(body, quote(member)+`:"`); ok {
				value, _, _ := strings.Cut(rest, `"`)
				hr.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, hr)
		switch w.Code {
		case http.StatusAccepted:
			require.Empty(t, w.Body.String())
			return
		case http.StatusOK, http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge:
		default:
			t.Fatalf("status %d for %q", w.Code, body)
		}
		require.True(t, jsontext.Value(w.Body.Bytes()).IsValid(), "%q for %q", w.Body.String(), body)
		require.NotContains(t, w.Body.String(), `"code":-32603`, "%q", body)
		require.NotContains(t, w.Body.String(), "\n")
	})
}
