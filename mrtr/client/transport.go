package client

import (
	"context"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Transport returns a transport that does what t does and lets this package see
// results as they come. Like t it is good for one session. A
// [*mcp.StreamableClientTransport] is watched at its HTTP client, any other
// transport at its connection; t itself is not changed.
func Transport(t mcp.Transport) mcp.Transport {
	tap := new(tap)
	s, ok := t.(*mcp.StreamableClientTransport)
	if !ok {
		return &tappedTransport{t, tap}
	}
	tapped := *s
	var hc http.Client
	if s.HTTPClient != nil {
		hc = *s.HTTPClient
	}
	hc.Transport = &roundTripper{base: hc.Transport, tap: tap}
	tapped.HTTPClient = &hc
	return &tapped
}

type tappedTransport struct {
	mcp.Transport
	tap *tap
}

// Connect connects the transport inside.
func (t *tappedTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &tappedConnection{Connection: c, tap: t.tap, waiting: make(map[jsonrpc.ID]waiter)}, nil
}

type tappedConnection struct {
	mcp.Connection
	tap *tap

	mu      sync.Mutex
	waiting map[jsonrpc.ID]waiter
}

// waiter is a request whose response is to come.
type waiter struct {
	exchange *exchange
	stop     func() bool // forgets to watch the request's context
}

// Write notes whose request it is.
func (c *tappedConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		raw, err := jsonrpc.EncodeMessage(m)
		if err != nil {
			return err
		}
		x, err := c.tap.sending(ctx, raw)
		if err != nil {
			return err
		}
		if x != nil {
			c.wait(ctx, r.ID, x)
		}
	}
	return c.Connection.Write(ctx, m)
}

func (c *tappedConnection) wait(ctx context.Context, id jsonrpc.ID, x *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[id] = waiter{x, context.AfterFunc(ctx, func() { c.take(id) })}
}

// take ends the wait for a response. It returns nil where nobody waits.
func (c *tappedConnection) take(id jsonrpc.ID) *exchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, ok := c.waiting[id]
	if !ok {
		return nil
	}
	delete(c.waiting, id)
	w.stop()
	return w.exchange
}

// Read hands a response to the exchange that waits for it.
func (c *tappedConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Response); ok && err == nil {
		if x := c.take(r.ID); x != nil {
			if raw, err := jsonrpc.EncodeMessage(r); err != nil {
				x.unreadable()
			} else {
				x.received(raw)
			}
		}
	}
	return m, err
}
