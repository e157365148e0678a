package client

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// maxMessage is the size in bytes up to which a response is read.
const maxMessage = 64 << 20

// exchange is what the transport sees of one request and its response. It
// travels in the request's context, so parallel requests never share one.
type exchange struct {
	method string

	mu       sync.Mutex
	id       jsontext.Value               // of the request; nil: not sent
	request  jsontext.Value               // the JSON-RPC message
	response jsontext.Value               // the JSON-RPC message; nil: none yet
	result   jsontext.Value               // its result; nil: an error, or none yet
	declared *protocol.ClientCapabilities // what the client said it can be asked for; nil: nothing
	looped   bool                         // a second request was tried
	broken   bool                         // something came that could not be read
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// tap watches the messages of one session. It is safe for concurrent use.
type tap struct {
	initialized atomic.Pointer[protocol.ClientCapabilities] // what initialize declared
}

// sending is told of a message before it is sent. It returns the exchange that
// the message opens, if it does.
func (t *tap) sending(ctx context.Context, message []byte) (*exchange, error) {
	var m struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
		Params jsontext.Value `json:"params"`
	}
	if json.Unmarshal(message, &m) != nil || m.ID == nil {
		return nil, nil
	}
	if m.Method == protocol.MethodInitialize {
		var p struct {
			Capabilities *protocol.ClientCapabilities `json:"capabilities"`
		}
		if json.Unmarshal(m.Params, &p) == nil {
			t.initialized.Store(p.Capabilities)
		}
		return nil, nil
	}
	x := exchangeOf(ctx)
	if x == nil || x.method != m.Method {
		return nil, nil
	}
	var p struct {
		Meta struct {
			Declared *protocol.ClientCapabilities `json:"io.modelcontextprotocol/clientCapabilities"`
		} `json:"_meta"`
	}
	if json.Unmarshal(m.Params, &p) != nil || p.Meta.Declared == nil {
		p.Meta.Declared = t.initialized.Load()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.id != nil && !bytes.Equal(x.id, m.ID) { // with the same id it is sent again, after a sign-in
		x.looped = true
		return nil, ErrAutomaticLoop
	}
	x.id, x.request, x.declared = m.ID.Clone(), bytes.Clone(message), p.Meta.Declared
	x.response, x.result, x.broken = nil, nil, false // what came before, such as the refusal that asked for a sign-in, is no answer
	return x, nil
}

// received is told of a message that came for x, which may be nil.
func (x *exchange) received(message []byte) {
	var m struct {
		ID     jsontext.Value `json:"id"`
		Result jsontext.Value `json:"result"`
	}
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if json.Unmarshal(message, &m) != nil {
		x.broken = true
		return
	}
	if x.response == nil && bytes.Equal(x.id, m.ID) {
		x.response, x.result = bytes.Clone(message), m.Result.Clone()
	}
}

// unreadable notes that a message came which is too large to be read.
func (x *exchange) unreadable() {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.broken = true
}
