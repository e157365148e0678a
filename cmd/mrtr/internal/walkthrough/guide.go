package walkthrough

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"os/exec"
)

// Options say what the walkthrough runs against.
type Options struct {
	// URL is the endpoint. Empty: one in this process.
	URL string
	// Client sends the requests. Nil: http.DefaultClient.
	Client *http.Client
	// Token: the client adds a bearer token; commands show a header for it.
	Token bool
	// Process starts a process that calls ServeProcess with its standard input
	// and output. Required for the embedded endpoint.
	Process func() *exec.Cmd
	// Page makes what is shown the same in every run: no states, process ids or
	// random trace ids, and the address that make run serves.
	Page bool
}

// pageURL is the endpoint of make run.
const pageURL = "http://127.0.0.1:8080/mcp"

// Guide runs the steps. It is not safe for concurrent use.
type Guide struct {
	url      string
	client   *http.Client
	embedded *endpoint // nil: the endpoint is elsewhere
	token    string    // not empty: a bearer token is sent
	page     bool

	state string // of the last reply that had one
}

// NewGuide returns a guide, which must be closed.
func NewGuide(o Options) (*Guide, error) {
	g := &Guide{url: o.URL, client: o.Client, page: o.Page}
	if g.client == nil {
		g.client = http.DefaultClient
	}
	if o.Token {
		g.token = "$TOKEN"
	}
	if o.URL == "" {
		e, err := newEndpoint(o.Process)
		if err != nil {
			return nil, err
		}
		g.embedded, g.url = e, e.url
	}
	return g, nil
}

// Close ends the embedded endpoint.
func (g *Guide) Close() {
	if g.embedded != nil {
		g.embedded.close()
	}
}

// Run runs a step and returns what it shows.
func (g *Guide) Run(ctx context.Context, s Step) ([]Block, error) {
	if s.Embedded && g.embedded == nil {
		return []Block{prose("This step needs the embedded endpoint, whose clock and processes can be handled: run it without --url.")}, nil
	}
	blocks, err := s.run(ctx, g)
	if err != nil {
		return blocks, fmt.Errorf("%s: %w", s.Title, err)
	}
	return blocks, nil
}

// URL returns where the endpoint is.
func (g *Guide) URL() string { return g.url }

// shownURL returns an address as commands show it.
func (g *Guide) shownURL(url string) string {
	if g.page {
		return pageURL
	}
	return url
}

// traceparent returns the trace context of a round: the same trace, a span of its
// own.
func (g *Guide) traceparents(n int) []string {
	trace, spans := "4bf92f3577b34da6a3ce929d0e0e4736", []string{"00f067aa0ba902b7", "53995c3f42cd8ad8", "b9c7c989f97918e1"}
	random := func(n int) string {
		b := make([]byte, n)
		_, _ = rand.Read(b) // never fails
		return hex.EncodeToString(b)
	}
	if !g.page {
		trace = random(16)
	}
	out := make([]string, n)
	for i := range out {
		span := spans[i%len(spans)]
		if !g.page {
			span = random(8)
		}
		out[i] = "00-" + trace + "-" + span + "-01"
	}
	return out
}
