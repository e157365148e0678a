package client_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// TestServerRequests holds that the handlers which answer questions of a round
// answer the requests of a handshake server too.
func TestServerRequests(t *testing.T) {
	h := fill(map[string]string{"": `{"name":"Ann"}`})
	var sampled *protocol.CreateMessageParams
	sample := h.Sampling
	h.Sampling = func(ctx context.Context, p *protocol.CreateMessageParams) (*protocol.CreateMessageResult, error) {
		sampled = p
		return sample(ctx, p)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	here, there := mcp.NewInMemoryTransports()
	ss, err := server.Connect(t.Context(), there, nil)
	require.NoError(t, err)
	session := connectOver(t, here, h, protocol.Version20251125)
	require.Equal(t, protocol.Version20251125, session.InitializeResult().ProtocolVersion)

	e, err := ss.Elicit(t.Context(), &mcp.ElicitParams{Message: "?", RequestedSchema: jsontext.Value(
		`{"type":"object","properties":{"name":{"type":"string"},"size":{"type":"integer","default":3}},"required":["name"]}`)})
	require.NoError(t, err)
	require.Equal(t, "accept", e.Action)
	require.Equal(t, map[string]any{"name": "Ann", "size": 3.0}, e.Content, "defaults are filled in")

	e, err = ss.Elicit(t.Context(), &mcp.ElicitParams{Mode: "url", Message: "?", URL: "https://a.example/", ElicitationID: "1"})
	require.NoError(t, err)
	require.Equal(t, &mcp.ElicitResult{Action: "accept"}, e)

	m, err := ss.CreateMessage(t.Context(), &mcp.CreateMessageParams{MaxTokens: 5, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "hi"}}}})
	require.NoError(t, err)
	require.Equal(t, "Paris", m.Content.(*mcp.TextContent).Text)
	require.Equal(t, 5, sampled.MaxTokens)
	require.Nil(t, sampled.Temperature, "what was not said is not said")

	r, err := ss.ListRoots(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, "file:///work", r.Roots[0].URI)

	t.Run("an answer that does not fit", func(t *testing.T) {
		h.Form = func(context.Context, *client.FormQuestion) (protocol.ElicitResult, error) {
			return protocol.ElicitResult{Action: protocol.ElicitAccept, Content: jsontext.Value(`{"name":7}`)}, nil
		}
		_, err := ss.Elicit(t.Context(), &mcp.ElicitParams{Message: "?", RequestedSchema: jsontext.Value(nameSchema)})
		rpc, ok := errors.AsType[*jsonrpc.Error](err)
		require.True(t, ok)
		require.Equal(t, "the client could not answer", rpc.Message)
	})
	t.Run("the handler's error stays here", func(t *testing.T) {
		h.Form = func(context.Context, *client.FormQuestion) (protocol.ElicitResult, error) {
			return protocol.ElicitResult{}, errors.New("secret")
		}
		_, err := ss.Elicit(t.Context(), &mcp.ElicitParams{Message: "?", RequestedSchema: jsontext.Value(nameSchema)})
		requireNoSecrets(t, err)
	})
}

// TestServerRequestsLeftToTheClient holds that what has no handler is the
// SDK's to answer.
func TestServerRequestsLeftToTheClient(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	here, there := mcp.NewInMemoryTransports()
	ss, err := server.Connect(t.Context(), there, nil)
	require.NoError(t, err)
	c := mcp.NewClient(info, nil) // declares roots by itself
	c.AddReceivingMiddleware(new(client.Handlers).Middleware())
	c.AddRoots(&mcp.Root{URI: "file:///sdk"})
	session, err := c.Connect(t.Context(), here, &mcp.ClientSessionOptions{ProtocolVersion: protocol.Version20251125})
	require.NoError(t, err)
	defer func() { _ = session.Close() }()
	r, err := ss.ListRoots(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, "file:///sdk", r.Roots[0].URI)
}

func TestNewKeepsOptions(t *testing.T) {
	opts := &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{
			Extensions: map[string]any{"io.modelcontextprotocol/tasks": map[string]any{}}, Sampling: &mcp.SamplingCapabilities{},
		},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return nil, nil },
	}
	f := &fake{answer: say(done)}
	c := client.New(info, &client.Handlers{Roots: fill(nil).Roots}, opts)
	session, err := c.Connect(t.Context(), client.Transport(&mcp.StreamableClientTransport{Endpoint: f.start(t)}), nil)
	require.NoError(t, err)
	defer func() { _ = session.Close() }()
	_, err = client.CallToolWithInputs(t.Context(), session, "t", nil, nil, nil)
	require.NoError(t, err)
	require.JSONEq(t, `{"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`, string(f.calls[0].Params.Meta["io.modelcontextprotocol/clientCapabilities"]))
	require.NotNil(t, opts.Capabilities.Sampling)
	require.NotNil(t, opts.ElicitationHandler)
	require.Nil(t, opts.MultiRoundTrip)
}

// TestServerRequestsAreBounded holds that a server gets one thing done at a time,
// and so many in a session.
func TestServerRequestsAreBounded(t *testing.T) {
	var now, most, answered atomic.Int32
	h := fill(nil)
	h.Sampling = func(context.Context, *protocol.CreateMessageParams) (*protocol.CreateMessageResult, error) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		runtime.Gosched()
		answered.Add(1)
		now.Add(-1)
		return fill(nil).Sampling(t.Context(), nil)
	}
	for session := range int32(2) { // each has its own count
		here, there := mcp.NewInMemoryTransports()
		ss, err := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil).Connect(t.Context(), there, nil)
		require.NoError(t, err)
		connectOver(t, here, h, protocol.Version20251125)
		var refused atomic.Int32
		var wg sync.WaitGroup
		for range 120 {
			wg.Go(func() {
				_, err := ss.CreateMessage(t.Context(), &mcp.CreateMessageParams{MaxTokens: 5, Messages: []*mcp.SamplingMessage{}})
				if err == nil {
					return
				}
				if rpc, ok := errors.AsType[*jsonrpc.Error](err); !ok || rpc.Message != "the client answers 100 requests in a session, and no more" {
					t.Errorf("got error %v", err)
				}
				refused.Add(1)
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, most.Load())
		require.EqualValues(t, 100*(session+1), answered.Load())
		require.EqualValues(t, 20, refused.Load())
	}
}

// TestServerRequestsWait holds that a request does not wait longer than its
// context.
func TestServerRequestsWait(t *testing.T) {
	f := &fake{answer: say(done), handshake: true}
	h := fill(nil)
	began := make(chan struct{})
	h.Roots = func(ctx context.Context) ([]protocol.Root, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	session := connect(t, f.start(t), h, protocol.Version20251125)
	answer := h.Middleware()(nil)
	first, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := answer(first, "roots/list", &mcp.ListRootsRequest{Session: session, Params: &mcp.ListRootsParams{}})
		ended <- err
	}()
	<-began
	second, give := context.WithCancel(t.Context())
	give()
	_, err := answer(second, "roots/list", &mcp.ListRootsRequest{Session: session, Params: &mcp.ListRootsParams{}})
	require.Error(t, err)
	cancel()
	require.Error(t, <-ended)
}

// TestServerRequestsOfToday holds that 2026-07-28 has none.
func TestServerRequestsOfToday(t *testing.T) {
	f := &fake{answer: say(done)}
	h := fill(nil)
	h.Roots = func(context.Context) ([]protocol.Root, error) {
		t.Error("the handler was called")
		return nil, nil
	}
	session := connect(t, f.start(t), h, "")
	_, err := h.Middleware()(nil)(t.Context(), "roots/list", &mcp.ListRootsRequest{Session: session, Params: &mcp.ListRootsParams{}})
	rpc, ok := errors.AsType[*jsonrpc.Error](err)
	require.True(t, ok)
	require.EqualValues(t, jsonrpc.CodeMethodNotFound, rpc.Code)
}
