package mrtr_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// TestGuardStyle plays a handler that counts its rounds in a state of its own.
func TestGuardStyle(t *testing.T) {
	seen := []string{}
	k := newKit(t, func(s *mrtr.Server) {
		tool(s, "count", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
			answer, ok := c.InputResponse("more")
			_, strange := c.InputResponse("stranger")
			seen = append(seen, fmt.Sprintf("%d %s %t %t %t %q", c.Round(), string(answer), ok, strange, c.HasInputResponses(), c.RequestState()))
			if string(c.RequestState()) == "xx" {
				return mrtr.Text("enough"), nil
			}
			return nil, c.RequestInput(protocol.InputRequests{
				{Key: "more", Method: protocol.MethodElicit, Params: jsontext.Value(`{"mode":"form","message":"More?","requestedSchema":{"type":"object","properties":{}}}`)},
			}, append(c.RequestState(), 'x'))
		})
	}, nil)
	state := k.do(request{name: "count", params: `"inputResponses":{"stranger":1}`}).asks(t, "more")
	state2 := k.do(request{name: "count", params: retry(state, `"more":null`, `"stranger":2`)}).asks(t, "more")
	k.do(request{name: "count", params: retry(state2, `"stranger":2`)}).says(t, "enough")
	require.Equal(t, []string{
		`1  false true true ""`, // a first call has no questions behind it: every key counts
		`2 null true false true "x"`,
		`3  false false false "xx"`,
	}, seen)
	require.NotContains(t, k.log(), "xx")
}

// TestGuardWithoutOwnState: no state of one's own is not an empty one.
func TestGuardWithoutOwnState(t *testing.T) {
	for name, own := range map[string][]byte{"none": nil, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, func(s *mrtr.Server) {
				tool(s, "t", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
					if c.Round() > 1 {
						return mrtr.Textf("%t", c.RequestState() == nil), nil
					}
					require.Nil(t, c.RequestState())
					return nil, c.RequestInput(protocol.InputRequests{{Key: "k", Method: protocol.MethodListRoots}}, own)
				})
			}, nil)
			state := k.do(request{name: "t"}).asks(t, "k")
			k.do(request{name: "t", params: retry(state)}).says(t, fmt.Sprint(own == nil))
		})
	}
}

// TestGuardMixed: a handler that changes between guards and questions has
// changed its code under a running flow.
func TestGuardMixed(t *testing.T) {
	guards := true
	k := newKit(t, func(s *mrtr.Server) {
		tool(s, "t", func(ctx context.Context, c *mrtr.Call) (*mrtr.Result, error) {
			if guards {
				return nil, c.RequestInput(protocol.InputRequests{{Key: "k", Method: protocol.MethodListRoots}}, []byte("own"))
			}
			return greet(ctx, c)
		})
	}, nil)
	guarded := k.do(request{name: "t"}).asks(t, "k")
	guards = false
	asked := k.do(request{name: "t"}).asks(t, "user_name")
	require.Equal(t, frozen, k.do(request{name: "t", params: retry(guarded, `"k":{"roots":[]}`)}).body)
	require.Equal(t, "diverged", k.last().Reason)
	guards = true
	require.Equal(t, frozen, k.do(request{name: "t", params: retry(asked, accept("user_name", `{"name":"x"}`))}).body)
	require.Equal(t, "diverged", k.last().Reason)
}

// TestGuardStateIsTheTools: a token's own state reaches the tool that sealed it
// and no other.
func TestGuardStateIsTheTools(t *testing.T) {
	k := newKit(t, func(s *mrtr.Server) {
		for _, name := range []string{"one", "two"} {
			tool(s, name, func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
				if own := c.RequestState(); own != nil {
					return mrtr.Text(string(own)), nil
				}
				return nil, c.RequestInput(protocol.InputRequests{{Key: "k", Method: protocol.MethodListRoots}}, []byte("of "+name))
			})
		}
	}, nil)
	one, two := k.do(request{name: "one"}).asks(t, "k"), k.do(request{name: "two"}).asks(t, "k")
	k.do(request{name: "one", params: retry(one)}).says(t, "of one")
	k.do(request{name: "two", params: retry(two)}).says(t, "of two")
	require.Equal(t, frozen, k.do(request{name: "two", params: retry(one)}).body)
	require.Equal(t, frozen, k.do(request{name: "one", params: retry(two)}).body)
}

// TestGuardTooLarge: an own state counts towards the token, and the log says
// how much.
func TestGuardTooLarge(t *testing.T) {
	k := newKit(t, func(s *mrtr.Server) {
		tool(s, "t", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
			return nil, c.RequestInput(protocol.InputRequests{{Key: "k", Method: protocol.MethodListRoots}}, make([]byte, 100_000))
		})
	}, nil)
	k.do(request{name: "t"}).failed(t, 200, -32603)
	require.Equal(t, "state_too_large", k.last().Reason)
	require.Contains(t, k.log(), "own state 100000")
}
