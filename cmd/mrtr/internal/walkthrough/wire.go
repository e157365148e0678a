package walkthrough

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// request is a request as a curl command makes it. "$state" stands for the state
// of the last reply.
type request struct {
	id      int
	method  string
	name    string   // Mcp-Name; empty: none
	members []string // of params, JSON, a line each; _meta is added
	trace   []string // more members of _meta
	keep    bool     // the reply has a state that is needed later
	tamper  bool     // one character of the state is changed before
}

const (
	protocolVersion = "2026-07-28"
	statePlace      = `"$state"`
	// flip changes the hundredth character of a state.
	flipPlace = 100
)

// meta is the _meta of every request here.
func (r *request) meta() string {
	members := append([]string{
		`"io.modelcontextprotocol/protocolVersion":"` + protocolVersion + `"`,
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}`,
	}, r.trace...)
	return `"_meta":{` + strings.Join(members, ",\n      ") + `}`
}

// body returns the request, over several lines. state takes the place of $state.
func (r *request) body(state string) string {
	members := strings.Join(append(append([]string(nil), r.members...), r.meta()), ",\n    ")
	body := fmt.Sprintf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{\n    %s}}", r.id, r.method, members)
	return strings.ReplaceAll(body, statePlace, state)
}

func (r *request) headers() [][2]string {
	h := [][2]string{
		{"Content-Type", "application/json"},
		{"Accept", "application/json, text/event-stream"},
		{"MCP-Protocol-Version", protocolVersion},
		{"Mcp-Method", r.method},
	}
	if r.name != "" {
		h = append(h, [2]string{"Mcp-Name", r.name})
	}
	return h
}

// curl returns the command that sends the request to url. The state is in the
// shell's variable of that name.
func (r *request) curl(url, token string) string {
	var b strings.Builder
	state := `"'"$state"'"`
	if r.tamper {
		fmt.Fprintf(&b, "forged=$(printf %%s \"$state\" | sed -e 's/^\\(.\\{%d\\}\\)A/\\1B/' -e t -e 's/^\\(.\\{%d\\}\\)./\\1A/')\n", flipPlace, flipPlace)
		state = `"'"$forged"'"`
	}
	fmt.Fprintf(&b, "curl -s %s \\\n ", url)
	for i, h := range r.headers() {
		if i > 0 && i%2 == 0 {
			b.WriteString(" \\\n ")
		}
		fmt.Fprintf(&b, " -H '%s: %s'", h[0], h[1])
	}
	if token != "" {
		b.WriteString(" \\\n  -H \"Authorization: Bearer $TOKEN\"")
	}
	fmt.Fprintf(&b, " \\\n  -d '%s'", r.body(state))
	if r.keep {
		b.WriteString(" | tee reply.json\nstate=$(sed 's/.*\"requestState\":\"\\([^\"]*\\)\".*/\\1/' reply.json)")
	}
	return b.String()
}

// tampered returns state as the command of curl changes it.
func tampered(state string) string {
	b := []byte(state)
	if b[flipPlace] == 'A' {
		b[flipPlace] = 'B'
	} else {
		b[flipPlace] = 'A'
	}
	return string(b)
}

// reply is what came back.
type reply struct {
	status int
	body   jsontext.Value
}

// send sends the request with the guide's state and takes the reply's.
func (g *Guide) send(ctx context.Context, url string, r *request) (reply, error) {
	state := `"` + g.state + `"`
	if r.tamper {
		state = `"` + tampered(g.state) + `"`
	}
	hr, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(r.body(state)))
	if err != nil {
		return reply{}, err
	}
	for _, h := range r.headers() {
		hr.Header.Set(h[0], h[1])
	}
	resp, err := g.client.Do(hr)
	if err != nil {
		return reply{}, fmt.Errorf("sending %s: %w", r.method, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err != nil {
		return reply{}, fmt.Errorf("reading the reply to %s: %w", r.method, err)
	}
	if !jsontext.Value(body).IsValid() {
		return reply{}, fmt.Errorf("the reply to %s is not JSON: HTTP %d", r.method, resp.StatusCode)
	}
	if m := stateMember.FindSubmatch(body); m != nil {
		g.state = string(m[1])
	} else if r.keep {
		return reply{}, fmt.Errorf("the endpoint did not ask back: HTTP %d, %s", resp.StatusCode, shown(body))
	}
	return reply{status: resp.StatusCode, body: body}, nil
}

var stateMember = regexp.MustCompile(`"requestState":\s*"([^"]*)"`)

// show returns the blocks of a request and its reply: the command, and the JSON
// of both.
func (g *Guide) show(url string, r *request, state string, got reply) []Block {
	return []Block{
		{Kind: Command, Text: r.curl(g.shownURL(url), g.token)},
		{Kind: Wire, Label: "request", Text: g.wire([]byte(r.body(`"` + state + `"`))), InCommand: true},
		{Kind: Wire, Label: fmt.Sprintf("reply, HTTP %d", got.status), Text: g.wire(got.body)},
	}
}

// exchange sends a request and returns the blocks that show it.
func (g *Guide) exchange(ctx context.Context, r *request) ([]Block, error) {
	return g.exchangeAt(ctx, g.url, r)
}

func (g *Guide) exchangeAt(ctx context.Context, url string, r *request) ([]Block, error) {
	state := g.state
	if r.tamper {
		state = tampered(state)
	}
	got, err := g.send(ctx, url, r)
	if err != nil {
		return nil, err
	}
	return g.show(url, r, state, got), nil
}

// wire returns JSON with states cut: they are long, and random.
func (g *Guide) wire(raw []byte) string {
	return stateMember.ReplaceAllStringFunc(string(raw), func(m string) string {
		state := stateMember.FindStringSubmatch(m)[1]
		begin := ""
		if !g.page && len(state) > 24 {
			begin = state[:12]
		}
		return fmt.Sprintf(`"requestState":"%s… (%d characters)"`, begin, len(state))
	})
}

// shown returns the start of a body for an error.
func shown(body []byte) string {
	if len(body) > 300 {
		return string(body[:300]) + "…"
	}
	return string(body)
}
