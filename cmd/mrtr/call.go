package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mrtr-lambda/mrtr-lambda/cmd/mrtr/internal/prompt"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
)

// caller is what the flags of call say.
type caller struct {
	args       string
	arg        many
	answers    many
	roots      many
	sampleWith string
	rounds     bool
	maxRounds  int
	json       bool
	access     *access
}

// call is the command that calls a tool.
func call(ctx context.Context, s stdio, f *flags) error {
	c := caller{access: f.access()}
	f.StringVar(&c.args, "args", "", "arguments, as a `JSON` object")
	f.Var(&c.arg, "arg", "one argument, `k=v`, typed by the tool's schema; may be repeated")
	f.Var(&c.answers, "answer", "answer to a question, `KEY=JSON`; may be repeated: a form's content, or accept, decline, cancel; a model's text; a list of roots")
	f.Var(&c.roots, "root", "a `directory` to name where the server asks for roots; may be repeated")
	f.StringVar(&c.sampleWith, "sample-with", "", "shell `command` that answers in place of a model: params in, text or result out")
	f.BoolVar(&c.rounds, "rounds", false, "print what each round sends and gets to standard error")
	f.IntVar(&c.maxRounds, "max-rounds", 0, "make `n` requests at most (16)")
	f.BoolVar(&c.json, "json", false, "print the result as JSON")
	args, err := f.parse(2, 2)
	if err != nil {
		return err
	}
	u, err := parseURL(args[0])
	if err != nil {
		return err
	}
	i := &interview{sampleWith: c.sampleWith}
	if i.given, err = parseAnswers(c.answers); err != nil {
		return err
	}
	if i.roots, err = parseRoots(c.roots); err != nil {
		return err
	}
	if c.maxRounds < 0 {
		return usage("", "--max-rounds is less than 0")
	}
	if _, err := arguments(c.args, nil, nil); err != nil {
		return err
	}
	i.terminal, i.why = prompt.Open(s.in, s.err, u.Host)
	return c.access.within(ctx, func(ctx context.Context) error { return c.at(ctx, s, u, i, args[1]) })
}

// at calls the tool of this name at u and shows what it returns.
func (c *caller) at(ctx context.Context, s stdio, u *url.URL, i *interview, name string) error {
	h := i.handlers()
	session, err := connect(ctx, s, u, h, c.access)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	outcome, err := c.run(ctx, s, session, h, i, name)
	if err != nil {
		return err
	}
	for _, key := range i.given.unused() {
		s.note("nothing was asked under the key %q; its answer was not used", key)
	}
	return c.show(s, outcome, i.said)
}

// run calls the tool and answers its questions. The tools are listed first: the
// schema says which types the arguments have, and which of them are sent as
// headers too.
func (c *caller) run(ctx context.Context, s stdio, session *mcp.ClientSession, h *client.Handlers, i *interview, name string) (*client.Outcome[mcp.CallToolResult], error) {
	all, err := tools(ctx, session)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(t *mcp.Tool) bool { return t.Name == name })
	if at < 0 {
		return nil, usage("mrtr list shows the tools", "the server has no tool %q", name)
	}
	input, err := sdkJSON(all[at].InputSchema)
	if err != nil {
		return nil, fmt.Errorf("reading the schema of %q: %w", name, err)
	}
	args, err := arguments(c.args, c.arg, input)
	if err != nil {
		return nil, err
	}
	outcome, err := client.CallToolWithInputs(ctx, session, name, args,
		func(ctx context.Context, q client.Question) (jsontext.Value, error) { return i.answer(ctx, h, q) },
		&client.Options{MaxRounds: c.maxRounds, OnRound: func(x client.Exchange) {
			i.said.sent = true
			if c.rounds {
				showRound(s, x)
			}
		}})
	if bad, ok := errors.AsType[*client.AnswerError](err); ok {
		return nil, usage(answerHint, "%w", bad)
	}
	return outcome, err
}

// show writes the result and returns what the exit code is made of.
func (c *caller) show(s stdio, o *client.Outcome[mcp.CallToolResult], said no) error {
	if c.json {
		fmt.Fprintln(s.out, prompt.Text(string(o.Raw)))
	}
	if o.Task != nil {
		if !c.json {
			fmt.Fprintln(s.out, prompt.Text(string(o.Raw)))
		}
		s.note("the server goes on with it as task %q", o.Task.ID)
		return nil
	}
	if !c.json {
		if err := showResult(s.out, o.Raw); err != nil {
			return err
		}
	}
	switch {
	case said.declined || said.refused && o.Result.IsError:
		return &failure{code: exitDeclined, err: errors.New("declined")}
	case o.Result.IsError:
		return &failure{code: exitTool, err: errors.New("the tool reported an error")}
	}
	return nil
}
