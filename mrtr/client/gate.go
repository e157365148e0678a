package client

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxRequests is how many requests of a server are answered in a session.
const maxRequests = 100

// gates bound what servers request, session by session. The zero value is ready
// for use. It is safe for concurrent use and keeps no session alive.
type gates struct {
	mu sync.Mutex
	of map[weak.Pointer[mcp.ClientSession]]*gate
}

// gate lets one request of a session in at a time.
type gate struct {
	turn chan struct{} // holds one element while a request is answered
	came int           // requests so far, those that wait too; guarded by gates.mu
}

// enter waits until a request of the session may be answered. The error, if any,
// is for the server; else leave must be called.
func (g *gates) enter(ctx context.Context, s mcp.Session) (leave func(), err error) {
	session, ok := s.(*mcp.ClientSession)
	if !ok || session == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the request has no session"}
	}
	if isModern(session) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "a server sends no requests in this protocol version"}
	}
	at, nth := g.count(session)
	if nth > maxRequests {
		return nil, &jsonrpc.Error{
			Code:    jsonrpc.CodeInvalidRequest,
			Message: fmt.Sprintf("the client answers %d requests in a session, and no more", maxRequests),
		}
	}
	select {
	case at.turn <- struct{}{}:
		return func() { <-at.turn }, nil
	case <-ctx.Done():
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the client could not answer"}
	}
}

// count returns a session's gate, and how many requests it has seen with this one.
func (g *gates) count(session *mcp.ClientSession) (at *gate, nth int) {
	key := weak.Make(session)
	g.mu.Lock()
	defer g.mu.Unlock()
	at = g.of[key]
	if at == nil {
		if g.of == nil {
			g.of = make(map[weak.Pointer[mcp.ClientSession]]*gate)
		}
		at = &gate{turn: make(chan struct{}, 1)}
		g.of[key] = at
		runtime.AddCleanup(session, g.forget, key)
	}
	at.came = min(at.came, maxRequests) + 1
	return at, at.came
}

func (g *gates) forget(key weak.Pointer[mcp.ClientSession]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.of, key)
}
