package walkthrough

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// The tools that the steps call, and their questions.
const (
	oneRound  = "test_tool_with_elicitation"
	twoRounds = "test_incomplete_result_multi_round"

	aliceIs = `{"action":"accept","content":{"name":"Alice"}}`
	blueIs  = `{"action":"accept","content":{"color":"blue"}}`
)

// call returns the request of one round. answers and the state are left out
// where answers is empty.
func call(id int, tool, arguments, answers string) *request {
	r := &request{id: id, method: protocol.MethodCallTool, name: tool, members: []string{
		fmt.Sprintf(`"name":"%s","arguments":%s`, tool, arguments),
	}}
	if answers != "" {
		r.members = append(r.members, `"inputResponses":`+answers, `"requestState":`+statePlace)
	}
	return r
}

// kept marks a request whose reply has a state that is needed later.
func (r *request) kept() *request {
	r.keep = true
	return r
}

func connect(ctx context.Context, g *Guide) ([]Block, error) {
	r := &request{id: 1, method: protocol.MethodDiscover}
	state := g.state
	got, err := g.send(ctx, g.url, r)
	if err != nil {
		return nil, err
	}
	blocks := []Block{
		prose("There is no handshake and no session. A client may ask once what the server speaks and offers; every request says by itself which version it is of and what the client can be asked, so any instance can serve it."),
		picture(clientServer("server/discover", "versions, capabilities")),
	}
	if got.status != 200 {
		return blocks, fmt.Errorf("the endpoint answers HTTP %d: %s", got.status, shown(got.body))
	}
	return append(blocks, g.show(g.url, r, state, got)...), nil
}

func roundOne(ctx context.Context, g *Guide) ([]Block, error) {
	blocks, err := g.exchange(ctx, call(1, oneRound, "{}", "").kept())
	if err != nil {
		return nil, err
	}
	return append([]Block{
		prose("The tool needs a name. Instead of a result it gives back input_required: the question, under a key, and a requestState. All that the next round needs is in that state, encrypted and authenticated. The server keeps nothing and forgets the call."),
		picture(clientServer("tools/call", "input_required: user_name, state")),
	}, blocks...), nil
}

func loop(ctx context.Context, g *Guide) ([]Block, error) {
	blocks := []Block{
		prose("A client answers and makes the same call again: a new id, the answer under the question’s key, and the state as it came, byte for byte. A client library does that by itself until there is a result. On the command line:"),
		picture(clientServer("tools/call", "input_required: user_name, state", "tools/call: answer, state", "complete")),
		{Kind: Command, Text: "mrtr call " + g.shownURL(g.url) + " " + oneRound + ` --answer 'user_name={"name":"Alice"}'`},
	}
	text, rounds, err := g.callTool(ctx, oneRound, map[string]string{"user_name": aliceIs})
	if err != nil {
		return nil, err
	}
	blocks = append(blocks, output("it prints", text))
	for i, x := range rounds {
		blocks = append(blocks,
			Block{Kind: Wire, Label: fmt.Sprintf("round %d, what the client sent", i+1), Text: g.wire(x.Request)},
			Block{Kind: Wire, Label: fmt.Sprintf("round %d, what came back", i+1), Text: g.wire(x.Response)})
	}
	blocks = append(blocks, prose("The second round by hand, with the state of the step before:"))
	last, err := g.exchange(ctx, call(2, oneRound, "{}", `{"user_name":`+aliceIs+`}`))
	return append(blocks, last...), err
}

// callTool calls a tool with the client library and returns the text of its
// result, and the rounds.
func (g *Guide) callTool(ctx context.Context, tool string, answers map[string]string) (string, []client.Exchange, error) {
	h := &client.Handlers{Form: func(_ context.Context, q *client.FormQuestion) (protocol.ElicitResult, error) {
		var r protocol.ElicitResult
		err := json.Unmarshal([]byte(answers[q.Key]), &r)
		return r, err
	}}
	transport := client.Transport(&mcp.StreamableClientTransport{Endpoint: g.url, HTTPClient: g.client, DisableStandaloneSSE: true})
	session, err := client.New(&mcp.Implementation{Name: "mrtr-demo-client", Version: "1.0.0"}, h, nil).Connect(ctx, transport, nil)
	if err != nil {
		return "", nil, fmt.Errorf("connecting: %w", err)
	}
	defer func() { _ = session.Close() }()
	var rounds []client.Exchange
	out, err := client.CallToolWithInputs(ctx, session, tool, nil, client.DefaultInputHandler(h), &client.Options{
		OnRound: func(x client.Exchange) { rounds = append(rounds, x) },
	})
	if err != nil {
		return "", nil, err
	}
	var texts []string
	for _, c := range out.Result.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n"), rounds, nil
}

func accumulate(ctx context.Context, g *Guide) ([]Block, error) {
	blocks := []Block{
		prose("A tool may ask in several rounds. The server merges each answer into the state of the next, so the client sends only the newest one and whichever instance comes last has them all. The tool’s handler is plain code that runs from the top in each round; what has been answered returns at once."),
		picture(clientServer("tools/call", "step1, state", "answer to step1, state", "step2, a longer state", "answer to step2, state", "complete")),
	}
	for i, r := range []*request{
		call(1, twoRounds, "{}", "").kept(),
		call(2, twoRounds, "{}", `{"step1":`+aliceIs+`}`).kept(),
		call(3, twoRounds, "{}", `{"step2":`+blueIs+`}`),
	} {
		shown, err := g.exchange(ctx, r)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, shown...)
		if i == 1 {
			inside, err := g.inside(ctx)
			if err != nil {
				return nil, err
			}
			blocks = append(blocks, inside...)
		}
	}
	return blocks, nil
}

// inside shows what the last state holds, which takes the server’s keys.
func (g *Guide) inside(ctx context.Context) ([]Block, error) {
	if g.embedded == nil {
		return nil, nil
	}
	i, err := mrtr.Inspect(ctx, g.embedded.keys, g.state)
	if err != nil {
		return nil, fmt.Errorf("reading the state: %w", err)
	}
	lines := []string{fmt.Sprintf("%s, %s, round %d", i.Claims.Method, i.Claims.Target, i.Claims.Round)}
	for _, e := range i.Log {
		for _, q := range e.Questions {
			line := q.Key + ": not answered yet"
			if q.Outcome != "" {
				line = q.Key + ": " + q.Outcome + " " + string(q.Answer)
			}
			lines = append(lines, line)
		}
	}
	return []Block{output("what is in that state, for who has the keys (mrtr inspect)", strings.Join(lines, "\n"))}, nil
}

func traced(ctx context.Context, g *Guide) ([]Block, error) {
	spans := g.traceparents(3)
	blocks := []Block{
		prose("Each round is a request of its own, so each has a span of its own. It carries its W3C trace context in _meta. From round 2 on the server links its span to round 1’s, whose traceparent rides in the sealed state: that works with any client. One that says so itself, under tracelink, helps what stands in between."),
		picture(clientServer("tools/call, traceparent 1", "step1, state (holds traceparent 1)", "answer, state, traceparent 2, link to 1", "step2, state", "answer, state, traceparent 3, link to 1", "complete")),
	}
	for i, answers := range []string{"", `{"step1":` + aliceIs + `}`, `{"step2":` + blueIs + `}`} {
		r := call(i+1, twoRounds, "{}", answers)
		r.keep = i < 2
		r.trace = []string{`"traceparent":"` + spans[i] + `"`}
		if i > 0 {
			r.trace = append(r.trace, `"`+client.MetaTraceLink+`":"`+spans[0]+`"`)
		}
		shown, err := g.exchange(ctx, r)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, shown...)
	}
	if g.embedded == nil {
		return blocks, nil
	}
	var lines []string
	for _, r := range g.embedded.last(3) {
		line := fmt.Sprintf("round %d: span of %s", r.Round, r.Trace.Traceparent)
		if r.Round > 1 {
			line += "\n         link to " + r.Traceparent
		}
		lines = append(lines, line)
	}
	return append(blocks, output("what the server knew, the link from the state", strings.Join(lines, "\n"))), nil
}
