package walkthrough

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// refusedReply is what every refused state gets.
const refusedReply = "400: begin anew"

// refuse sends a round whose state must be refused, and shows it.
func (g *Guide) refuse(ctx context.Context, r *request, later time.Duration) ([]Block, error) {
	state := g.state
	if r.tamper {
		state = tampered(state)
	}
	if later > 0 {
		g.embedded.later(later)
		defer g.embedded.later(-later)
	}
	got, err := g.send(ctx, g.url, r)
	if err != nil {
		return nil, err
	}
	if got.status != 400 {
		return nil, fmt.Errorf("the endpoint took the state: HTTP %d", got.status)
	}
	blocks := g.show(g.url, r, state, got)
	if g.embedded != nil {
		blocks = append(blocks, output("the server’s log says why", "refused: "+g.embedded.last(1)[0].Reason))
	}
	return blocks, nil
}

func flipped(ctx context.Context, g *Guide) ([]Block, error) {
	blocks, err := g.exchange(ctx, call(1, oneRound, "{}", "").kept())
	if err != nil {
		return nil, err
	}
	r := call(2, oneRound, "{}", `{"user_name":`+aliceIs+`}`)
	r.tamper = true
	no, err := g.refuse(ctx, r, 0)
	blocks = append([]Block{
		prose("The state passes through the client, so it must not be possible to change it. Each one is sealed with AES-256-GCM under a key of its own: whatever bit is flipped, it does not open any more. The reply is the same for every reason, so that nobody learns how close they came. data.restart tells the client to begin the call anew, which mrtr does by itself, once."),
		picture(clientServer("tools/call", "input_required: user_name, state", "answer, a state with one other character", refusedReply)),
	}, blocks...)
	return append(blocks, no...), err
}

func swapped(ctx context.Context, g *Guide) ([]Block, error) {
	blocks, err := g.exchange(ctx, call(1, oneRound, `{"amount":10}`, "").kept())
	if err != nil {
		return nil, err
	}
	no, err := g.refuse(ctx, call(2, oneRound, `{"amount":1000}`, `{"user_name":`+aliceIs+`}`), 0)
	blocks = append([]Block{
		prose("A state belongs to one call: this tool, these arguments, this caller, this deployment. Nobody can have 10 approved and then send 1000, nor use a state for another tool, nor another user’s."),
		picture(clientServer("tools/call, amount 10", "input_required: user_name, state", "answer, state, amount 1000", refusedReply)),
	}, blocks...)
	return append(blocks, no...), err
}

// roundLife is how long a state lives, and a little more.
const roundLife = 10*time.Minute + time.Second

func expired(ctx context.Context, g *Guide) ([]Block, error) {
	blocks, err := g.exchange(ctx, call(1, oneRound, "{}", "").kept())
	if err != nil {
		return nil, err
	}
	blocks = append([]Block{
		prose("A state lives for 10 minutes, and the whole call for an hour; both can be set. The clock of the embedded endpoint is moved ahead for the second round. With another endpoint, wait."),
		picture(clientServer("tools/call", "input_required: user_name, state", "10 minutes later: answer, state", refusedReply)),
	}, blocks...)
	no, err := g.refuse(ctx, call(2, oneRound, "{}", `{"user_name":`+aliceIs+`}`), roundLife)
	return append(blocks, no...), err
}

func processes(ctx context.Context, g *Guide) ([]Block, error) {
	requests := []*request{
		call(1, twoRounds, "{}", "").kept(),
		call(2, twoRounds, "{}", `{"step1":`+aliceIs+`}`).kept(),
		call(3, twoRounds, "{}", `{"step2":`+blueIs+`}`),
	}
	var exchanges []Block
	for _, r := range requests {
		shown, err := g.exchangeAt(ctx, g.embedded.fresh, r)
		if err != nil {
			return nil, err
		}
		exchanges = append(exchanges, shown...)
	}
	pids := g.embedded.served(len(requests))
	parties, lines := []string{"client"}, []string(nil)
	for i, pid := range pids {
		name := fmt.Sprintf("pid %d", pid)
		if g.page {
			name = fmt.Sprintf("process %d", i+1)
		}
		parties = append(parties, name)
		lines = append(lines, fmt.Sprintf("round %d: %s", i+1, name))
	}
	blocks := []Block{
		prose("On Lambda each round may land on an instance that has never seen the call. Here each request starts a process and ends it with the reply. The processes share a key and nothing else, as instances share a key of AWS KMS."),
		picture(Diagram{Parties: parties, Arrows: []Arrow{
			{0, 1, "call"}, {1, 0, "step1, state"}, {0, 2, "answer, state"}, {2, 0, "step2, state"}, {0, 3, "answer, state"}, {3, 0, "complete"},
		}}),
		output("who served", strings.Join(lines, "\n")),
	}
	return append(blocks, exchanges...), nil
}
