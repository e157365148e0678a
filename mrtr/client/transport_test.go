package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// sdkServer returns a server of the official SDK with a tool that asks, in two
// rounds, for a name and for roots, and a tool, a resource and a prompt that
// ask for a name.
func sdkServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{}})
	nameForm := func() mcp.InputRequestMap {
		return mcp.InputRequestMap{"name": &mcp.ElicitParams{
			Mode: "form", Message: "Name?", RequestedSchema: jsontext.Value(nameSchema),
		}}
	}
	s.AddTool(&mcp.Tool{Name: "ask", InputSchema: jsontext.Value(`{"type":"object","properties":{"city":{"type":"string","x-mcp-header":"City"}}}`)},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			switch r.Params.RequestState {
			case "":
				return &mcp.CallToolResult{InputRequests: nameForm(), RequestState: "1"}, nil
			case "1":
				name := r.Params.InputResponses["name"].(*mcp.ElicitResult).Content["name"]
				return &mcp.CallToolResult{
					InputRequests: mcp.InputRequestMap{"roots": &mcp.ListRootsParams{}}, RequestState: "2" + fmt.Sprint(name),
				}, nil
			}
			roots := r.Params.InputResponses["roots"].(*mcp.ListRootsResult).Roots
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: r.Params.RequestState[1:] + " " + roots[0].URI}}}, nil
		})
	s.AddTool(&mcp.Tool{Name: "once", InputSchema: jsontext.Value(`{"type":"object"}`)},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			a, ok := r.Params.InputResponses["name"].(*mcp.ElicitResult)
			if !ok {
				return &mcp.CallToolResult{InputRequests: nameForm()}, nil
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(a.Content["name"])}}}, nil
		})
	s.AddResource(&mcp.Resource{URI: "test://r", Name: "r"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		a, ok := r.Params.InputResponses["name"].(*mcp.ElicitResult)
		if !ok {
			return &mcp.ReadResourceResult{InputRequests: nameForm()}, nil
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "test://r", Text: fmt.Sprint(a.Content["name"])}}}, nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "p"}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		a, ok := r.Params.InputResponses["name"].(*mcp.ElicitResult)
		if !ok {
			return &mcp.GetPromptResult{InputRequests: nameForm()}, nil
		}
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: fmt.Sprint(a.Content["name"])}}}}, nil
	})
	return s
}

func overHTTP(t *testing.T, s *mcp.Server, opts *mcp.StreamableHTTPOptions) string {
	t.Helper()
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, opts))
	t.Cleanup(web.Close)
	return web.URL
}

func inMemory(t *testing.T, s *mcp.Server) mcp.Transport {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	session, err := s.Connect(t.Context(), there, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return here
}

// TestSDKServer runs against the official SDK's server over every transport.
// With handshake versions its questions come as requests of the server.
func TestSDKServer(t *testing.T) {
	for _, version := range []string{"", protocol.Version20251125, protocol.Version20250618} {
		for name, transport := range map[string]func(*testing.T) mcp.Transport{
			"events": func(t *testing.T) mcp.Transport {
				return &mcp.StreamableClientTransport{Endpoint: overHTTP(t, sdkServer(), &mcp.StreamableHTTPOptions{Stateless: version == ""})}
			},
			"json": func(t *testing.T) mcp.Transport {
				return &mcp.StreamableClientTransport{Endpoint: overHTTP(t, sdkServer(), &mcp.StreamableHTTPOptions{Stateless: version == "", JSONResponse: version == ""})}
			},
			"memory": func(t *testing.T) mcp.Transport { return inMemory(t, sdkServer()) },
			"logging": func(t *testing.T) mcp.Transport {
				return &mcp.LoggingTransport{Transport: inMemory(t, sdkServer()), Writer: new(bytes.Buffer)}
			},
		} {
			t.Run(name+version, func(t *testing.T) {
				h := fill(map[string]string{"name": `{"name":"Ann"}`, "": `{"name":"Ann"}`})
				session := connectOver(t, transport(t), h, version)
				_, err := session.ListTools(t.Context(), nil) // so that the SDK knows the tool's headers
				require.NoError(t, err)
				require.Equal(t, version == "", session.InitializeResult().ProtocolVersion == protocol.Version20260728)
				if version == "" { // the SDK's server gets no further than one round with handshake clients
					out, err := client.CallToolWithInputs(t.Context(), session, "ask", map[string]string{"city": "Lyon"}, client.DefaultInputHandler(h), nil)
					require.NoError(t, err)
					require.Equal(t, 3, out.Rounds)
					require.Equal(t, "Ann file:///work", text(t, out.Result))
				}
				out, err := client.CallToolWithInputs(t.Context(), session, "once", nil, client.DefaultInputHandler(h), nil)
				require.NoError(t, err)
				require.Equal(t, "Ann", text(t, out.Result))
				if version != "" {
					require.Equal(t, 1, out.Rounds, "the handlers were asked by the server itself")
				}

				if version != "" {
					return // nor with anything but tools
				}
				r, err := client.ReadResourceWithInputs(t.Context(), session, "test://r", client.DefaultInputHandler(h), nil)
				require.NoError(t, err)
				require.Equal(t, "Ann", r.Result.Contents[0].Text)
				p, err := client.GetPromptWithInputs(t.Context(), session, "p", nil, client.DefaultInputHandler(h), nil)
				require.NoError(t, err)
				require.Equal(t, "Ann", p.Result.Messages[0].Content.(*mcp.TextContent).Text)
			})
		}
	}
}

func TestPlainTransportIsRefused(t *testing.T) {
	h := fill(nil)
	c := client.New(info, h, nil)
	session, err := c.Connect(t.Context(), inMemory(t, sdkServer()), nil)
	require.NoError(t, err)
	defer func() { _ = session.Close() }()
	_, err = client.CallToolWithInputs(t.Context(), session, "ask", nil, never(t), nil)
	require.ErrorIs(t, err, client.ErrTransport)
}

func TestAutomaticLoopIsRefused(t *testing.T) {
	for name, transport := range map[string]func(*testing.T) mcp.Transport{
		"http": func(t *testing.T) mcp.Transport {
			return &mcp.StreamableClientTransport{Endpoint: overHTTP(t, sdkServer(), &mcp.StreamableHTTPOptions{Stateless: true})}
		},
		"memory": func(t *testing.T) mcp.Transport { return inMemory(t, sdkServer()) },
	} {
		t.Run(name, func(t *testing.T) {
			c := mcp.NewClient(info, &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "x"}}, nil
			}})
			session, err := c.Connect(t.Context(), client.Transport(transport(t)), nil)
			require.NoError(t, err)
			defer func() { _ = session.Close() }()
			_, err = client.CallToolWithInputs(t.Context(), session, "ask", nil, never(t), nil)
			require.ErrorIs(t, err, client.ErrAutomaticLoop)
		})
	}
}

// TestOwnClient shows that a client need not be made by New.
func TestOwnClient(t *testing.T) {
	c := mcp.NewClient(info, &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{}, RootsV2: &mcp.RootCapabilities{}},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	session, err := c.Connect(t.Context(), client.Transport(inMemory(t, sdkServer())), nil)
	require.NoError(t, err)
	defer func() { _ = session.Close() }()
	out, err := client.CallToolWithInputs(t.Context(), session, "ask", nil, client.DefaultInputHandler(fill(map[string]string{"name": `{"name":"Bo"}`})), nil)
	require.NoError(t, err)
	require.Equal(t, "Bo file:///work", text(t, out.Result))
}

// TestSentAgainWithinACall holds that a request which is sent a second time, as
// after a redirect or a sign-in, is no loop of the SDK's.
func TestSentAgainWithinACall(t *testing.T) {
	f := &fake{answer: say(ask("s", "name", form("?", nameSchema)), done)}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") == "tools/call" && r.URL.Path != "/moved" {
			http.Redirect(w, r, "/moved", http.StatusTemporaryRedirect)
			return
		}
		f.ServeHTTP(w, r)
	}))
	defer web.Close()
	h := fill(map[string]string{"name": `{"name":"x"}`})
	session := connect(t, web.URL, h, "")
	out, err := client.CallToolWithInputs(t.Context(), session, "t", nil, client.DefaultInputHandler(h), nil)
	require.NoError(t, err)
	require.Equal(t, "done", text(t, out.Result))
	require.Len(t, f.calls, 2)
}

// TestSignInWithinACall holds that what a server says with a 401 or 403, which
// the SDK answers by a sign-in, is not taken for the answer to the call.
func TestSignInWithinACall(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		for name, refusal := range map[string]string{
			"error": `{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,"message":"no"}}`, "result": `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`,
			"no JSON": `no to %s`, "nothing": "%.0s",
		} {
			t.Run(fmt.Sprintf("%d/%s", status, name), func(t *testing.T) {
				f := &fake{answer: say(ask("s", "name", form("?", nameSchema)), done)}
				s := new(signer)
				web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("Mcp-Method") != "tools/call" || s.signIns%2 == 1 {
						f.ServeHTTP(w, r)
						s.signIns += s.signIns % 2 // the next call needs another
						return
					}
					var m wire
					_ = json.NewDecoder(r.Body).Decode(&m)
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(status)
					fmt.Fprintf(w, refusal, m.ID)
				}))
				defer web.Close()
				h := fill(map[string]string{"name": `{"name":"x"}`})
				session := connectOver(t, &mcp.StreamableClientTransport{Endpoint: web.URL, OAuthHandler: s}, h, "")
				var rounds []client.Exchange
				out, err := client.CallToolWithInputs(t.Context(), session, "t", nil, client.DefaultInputHandler(h),
					&client.Options{OnRound: func(x client.Exchange) { rounds = append(rounds, x) }})
				require.NoError(t, err)
				require.Equal(t, "done", text(t, out.Result))
				require.Equal(t, 4, s.signIns)
				require.Len(t, rounds, 2)
				require.Contains(t, string(rounds[0].Response), "input_required")
				require.Contains(t, string(rounds[1].Response), "complete")
			})
		}
	}
}

// signer counts sign-ins, in turn with the calls that they are for.
type signer struct{ signIns int }

func (s *signer) TokenSource(context.Context) (oauth2.TokenSource, error) { return nil, nil }

func (s *signer) Authorize(_ context.Context, _ *http.Request, r *http.Response) error {
	s.signIns++
	_, err := io.Copy(io.Discard, r.Body)
	return errors.Join(err, r.Body.Close())
}

// TestResumedStream takes a result from the stream that the SDK opens after the
// first one broke off.
func TestResumedStream(t *testing.T) {
	s := sdkServer()
	s.AddTool(&mcp.Tool{Name: "slow", InputSchema: jsontext.Value(`{"type":"object"}`)},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			r.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: time.Millisecond})
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "late"}}}, nil
		})
	url := overHTTP(t, s, &mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)})
	session := connect(t, url, fill(nil), protocol.Version20251125)
	out, err := client.CallToolWithInputs(t.Context(), session, "slow", nil, nil, nil)
	require.NoError(t, err)
	require.Equal(t, "late", text(t, out.Result))
}

func TestTransportLeavesItsArgumentAlone(t *testing.T) {
	hc := &http.Client{}
	in := &mcp.StreamableClientTransport{Endpoint: "http://x.example", HTTPClient: hc, MaxRetries: 3}
	out, ok := client.Transport(in).(*mcp.StreamableClientTransport)
	require.True(t, ok)
	require.NotSame(t, in, out)
	require.Nil(t, hc.Transport)
	require.Equal(t, 3, out.MaxRetries)
	require.NotNil(t, out.HTTPClient.Transport)
}

func TestNetworkErrors(t *testing.T) {
	f := &fake{answer: say(ask("s", "name", form("?", nameSchema)), done)}
	failing := false
	h := fill(map[string]string{"name": `{"name":"x"}`})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if failing {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		f.ServeHTTP(w, r)
	}))
	defer web.Close()
	session := connect(t, web.URL, h, "")
	flow, err := client.NewToolCall("t", nil)
	require.NoError(t, err)
	require.NoError(t, flow.Step(t.Context(), session, nil))
	failing = true
	err = flow.Run(t.Context(), session, client.DefaultInputHandler(h), nil)
	require.Error(t, err)
	require.False(t, flow.Done())
	require.Equal(t, 1, flow.Rounds())
	failing = false
	require.NoError(t, flow.Run(t.Context(), session, nil, nil), "the answers are still there")
	require.Equal(t, 2, flow.Rounds())

	t.Run("the handler's error", func(t *testing.T) {
		f := &fake{answer: say(ask("s", "name", form("?", nameSchema)), done)}
		wrong := errors.New("no terminal")
		_, err := client.CallToolWithInputs(t.Context(), connect(t, f.start(t), h, ""), "t", nil, func(context.Context, client.Question) (jsontext.Value, error) {
			return nil, wrong
		}, nil)
		require.ErrorIs(t, err, wrong)
		require.Len(t, f.calls, 1)
	})
	t.Run("no handler", func(t *testing.T) {
		f := &fake{answer: say(ask("s", "name", form("?", nameSchema)), done)}
		_, err := client.CallToolWithInputs(t.Context(), connect(t, f.start(t), h, ""), "t", nil, nil, nil)
		require.ErrorIs(t, err, client.ErrNoHandler)
	})
}
