package mrtr_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// TestAuthorizationError: what a client gets of a refusal, wherever it is made.
func TestAuthorizationError(t *testing.T) {
	secret := errors.New("secret-cause")
	for _, tt := range []struct {
		name   string
		err    error
		status int
		code   int
		header string // WWW-Authenticate
		reason string
	}{
		{"no credentials", &mrtr.AuthorizationError{Status: 401, Challenge: `Bearer scope="a"`, Reason: "none"}, 401, -32600, `Bearer scope="a"`, "none"},
		{"a missing scope", &mrtr.AuthorizationError{Status: 403, Challenge: "Bearer x", Reason: "scope"}, 403, -32600, "Bearer x", "scope"},
		{"no challenge", &mrtr.AuthorizationError{Status: 401, Reason: "none"}, 401, -32600, "", "none"},
		{"cannot be judged", &mrtr.AuthorizationError{Status: 503, Reason: "down", Err: secret}, 503, -32603, "", "down"},
		{"another status", &mrtr.AuthorizationError{Status: 200, Reason: "odd"}, 403, -32600, "", "odd"},
		{"no status", &mrtr.AuthorizationError{}, 403, -32600, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			where := map[string]*kit{
				"authenticate": newKit(t, statusServer, func(o *mrtr.HandlerOptions) {
					o.Authenticate = func(*http.Request) (context.Context, error) { return nil, tt.err }
				}),
				"middleware": newKit(t, statusServer, func(o *mrtr.HandlerOptions) {
					o.Middleware = []mrtr.Middleware{func(context.Context, mrtr.Method, func(context.Context) error) error { return tt.err }}
				}),
				"tool": newKit(t, func(s *mrtr.Server) {
					tool(s, "plain", func(context.Context, *mrtr.Call) (*mrtr.Result, error) { return nil, tt.err })
				}, nil),
			}
			for place, k := range where {
				got := k.do(request{name: "plain"})
				require.Equal(t, tt.status, got.status, place)
				require.Equal(t, tt.header, got.header.Get("WWW-Authenticate"), place)
				require.Equal(t, tt.code, k.last().Code, place)
				require.Equal(t, tt.reason, k.last().Reason, place)
				require.NotContains(t, got.body, "secret-cause", place)
				if tt.status == http.StatusServiceUnavailable {
					require.NotEmpty(t, got.header.Get("Retry-After"), place)
					require.ErrorIs(t, k.last().Err, secret, place)
				}
			}
		})
	}
}

// TestAuthenticate: nothing is served before the caller is known, and the
// caller is who Authenticate says.
func TestAuthenticate(t *testing.T) {
	ran, known := false, false
	k := newKit(t, func(s *mrtr.Server) {
		tool(s, "plain", func(ctx context.Context, _ *mrtr.Call) (*mrtr.Result, error) {
			ran = true
			p, _ := mrtr.PrincipalFrom(ctx)
			return mrtr.Text(p.Subject), nil
		})
	}, func(o *mrtr.HandlerOptions) {
		o.Authenticate = func(r *http.Request) (context.Context, error) {
			if !known {
				return nil, &mrtr.AuthorizationError{Status: http.StatusUnauthorized, Challenge: "Bearer"}
			}
			return mrtr.WithPrincipal(r.Context(), mrtr.Principal{Subject: "ann"}), nil
		}
	})
	for _, r := range []request{
		{name: "plain"},
		{name: "plain", body: "{"},
		{name: "plain", header: map[string]string{"Content-Type": "text/plain"}},
		{method: protocol.MethodDiscover},
	} {
		require.Equal(t, http.StatusUnauthorized, k.do(r).status)
	}
	require.False(t, ran)
	known = true
	require.Contains(t, k.do(request{name: "plain"}).body, "ann")

	k = newKit(t, statusServer, func(o *mrtr.HandlerOptions) {
		o.Authenticate = func(*http.Request) (context.Context, error) { return nil, errors.New("secret-cause") }
	})
	got := k.do(request{name: "plain"})
	require.NotContains(t, got.body, "done", "an error of another kind lets nobody in")
	require.NotContains(t, got.body, "secret-cause")
	require.Equal(t, -32603, k.last().Code)
}

func TestHasTool(t *testing.T) {
	s := mrtr.NewServer(protocol.Implementation{Name: "s", Version: "1"}, nil)
	statusServer(s)
	require.True(t, s.HasTool("plain"))
	require.False(t, s.HasTool("Plain"))
	require.True(t, s.HasTool("greet"))
	require.False(t, s.HasTool("file:///a"), "a resource")
}
