package mrtr_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
)

// initialize opens a session of a handshake client and returns its id.
func initialize(t *testing.T, k *kit, ctx context.Context, version, capabilities string) string {
	t.Helper()
	res := k.do(request{ctx: ctx, header: map[string]string{"Mcp-Protocol-Version": "-", "Mcp-Method": "-"},
		body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":` + capabilities + `}}`})
	require.Equal(t, http.StatusOK, res.status, res.body)
	id := res.header.Get("Mcp-Session-Id")
	require.NotEmpty(t, id)
	return id
}

func handshakeCall(ctx context.Context, id, name string) request {
	return request{ctx: ctx, header: map[string]string{"Mcp-Protocol-Version": "-", "Mcp-Method": "-", "Mcp-Session-Id": id},
		body: `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + name + `","arguments":{}}}`}
}

// TestHandshakeAddress: a URL ask is 2025-11-25's own error where the client
// takes addresses, and the hybrid answer in the revision that has none.
func TestHandshakeAddress(t *testing.T) {
	k := newKit(t, func(s *mrtr.Server) {
		tool(s, "page", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
			return mrtr.Text("opened"), mrtr.AskAll(c, mrtr.URL("page", "Sign in.", "https://example.com/in"))
		})
	}, nil)
	id := initialize(t, k, t.Context(), "2025-11-25", `{"elicitation":{"url":{}}}`)
	one, two := k.do(handshakeCall(t.Context(), id, "page")), k.do(handshakeCall(t.Context(), id, "page"))
	require.Equal(t, http.StatusOK, one.status)
	want := regexp.MustCompile(`"code":-32042,.*"elicitations":\[\{"mode":"url","message":"Sign in\.","url":"https://example\.com/in","elicitationId":"(page-[A-Z0-9]+)"\}\]`)
	first, second := want.FindStringSubmatch(one.body), want.FindStringSubmatch(two.body)
	require.NotNil(t, first, one.body)
	require.NotNil(t, second, two.body)
	require.NotEqual(t, first[1], second[1], "an elicitation id is one of its own")

	old := k.do(handshakeCall(t.Context(), initialize(t, k, t.Context(), "2025-06-18", `{"elicitation":{"url":{}}}`), "page"))
	require.Contains(t, old.body, `"resultType":"input_required"`)
	lacks := k.do(handshakeCall(t.Context(), initialize(t, k, t.Context(), "2025-11-25", `{"elicitation":{}}`), "page"))
	require.Contains(t, lacks.body, `"isError":true`)
	require.NotContains(t, lacks.body, "requestState")
}

// TestSessionBelongsToItsCaller: a session id is good for the caller that it
// was made for, and for nobody else.
func TestSessionBelongsToItsCaller(t *testing.T) {
	k := newKit(t, func(s *mrtr.Server) { tool(s, "greet", greet) }, nil)
	as := func(subject string) context.Context {
		if subject == "" {
			return t.Context()
		}
		return mrtr.WithPrincipal(t.Context(), mrtr.Principal{Issuer: "i", Subject: subject})
	}
	for _, tt := range []struct{ made, shown, reason string }{
		{"ann", "ann", ""}, {"", "", ""},
		{"ann", "bob", "session_principal"}, {"ann", "", "session_principal_absent"}, {"", "ann", "session_principal_gained"},
	} {
		id := initialize(t, k, as(tt.made), "2025-11-25", `{"elicitation":{}}`)
		res := k.do(handshakeCall(as(tt.shown), id, "greet"))
		require.Equal(t, tt.reason, k.last().Reason)
		if tt.reason == "" {
			require.Equal(t, http.StatusOK, res.status)
			continue
		}
		require.Equal(t, http.StatusNotFound, res.status)
		require.Empty(t, res.body)
	}
}

// TestIdempotencyKeyIsNoFunctionOfTheLog: what logs show does not give the key.
func TestIdempotencyKeyIsNoFunctionOfTheLog(t *testing.T) {
	k := newKit(t, func(s *mrtr.Server) {
		tool(s, "pay", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
			if _, err := mrtr.Ask[nameForm](c, "user_name", "Who pays?"); err != nil {
				return nil, err
			}
			key, err := c.IdempotencyKey("pay")
			return mrtr.Text(key), err
		})
	}, nil)
	state := k.do(request{name: "pay"}).asks(t, "user_name")
	key := k.do(request{name: "pay", params: retry(state, accept("user_name", `{"name":"a"}`))}).text()
	flow, err := hex.DecodeString(k.last().FlowID)
	require.NoError(t, err)
	require.Len(t, flow, 16)
	for _, known := range [][]byte{flow, []byte(k.last().FlowID)} {
		mac := hmac.New(sha256.New, known)
		mac.Write([]byte("mrtr idempotency v1\x00pay"))
		require.NotEqual(t, hex.EncodeToString(mac.Sum(nil)), key)
	}
}

// TestProgressGrows: values that do not grow are not sent.
func TestProgressGrows(t *testing.T) {
	k := newKit(t, func(s *mrtr.Server) {
		tool(s, "work", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
			for _, done := range []float64{1, 3, 2, 3, 4} {
				c.Progress(done, 0, "")
			}
			return mrtr.Text("done"), nil
		})
	}, nil)
	res := k.do(request{body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":7,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		header: map[string]string{"Mcp-Name": "work"}})
	var got []string
	for _, m := range regexp.MustCompile(`"progress":(\d+)`).FindAllStringSubmatch(res.body, -1) {
		got = append(got, m[1])
	}
	require.Equal(t, []string{"1", "3", "4"}, got)
}
