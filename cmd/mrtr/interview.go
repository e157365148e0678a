package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/cmd/mrtr/internal/prompt"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// interview answers a server's questions: from the command line, by a command,
// or by asking the person at the terminal.
type interview struct {
	given      answers
	roots      []protocol.Root // nil: none were named
	sampleWith string          // a shell command; empty: none
	terminal   *prompt.Terminal
	why        string // why there is no terminal

	taken map[string]bool // keys whose answers from the command line were sent
	said  no              // what became of the round that is being answered
}

// no says whether the user said no in the last round that was answered.
type no struct {
	sent     bool // the round has been sent since
	declined bool // a question was declined or cancelled
	refused  bool // a form of nothing but yes or no was sent with a no
}

// handlers answer what is not given on the command line.
func (i *interview) handlers() *client.Handlers {
	return &client.Handlers{Form: i.form, URL: i.url, Sampling: i.sample, Roots: i.listRoots}
}

// answer answers one question of a round.
func (i *interview) answer(ctx context.Context, h *client.Handlers, q client.Question) (jsontext.Value, error) {
	if i.said.sent {
		i.said = no{}
	}
	answer, err := i.find(ctx, h, q)
	if errors.Is(err, prompt.ErrRefused) {
		return nil, &failure{code: exitDeclined, err: fmt.Errorf("question %q was refused; nothing was sent", q.Key)}
	}
	if err != nil {
		return nil, err
	}
	var r struct {
		Action  protocol.ElicitAction `json:"action"`
		Content protocol.Object       `json:"content"`
	}
	if q.Method == protocol.MethodElicit && json.Unmarshal(answer, &r) == nil {
		i.said.declined = i.said.declined || r.Action != protocol.ElicitAccept
		for _, v := range r.Content {
			i.said.refused = i.said.refused || len(r.Content) == 1 && v.Kind() == 'f'
		}
	}
	return answer, nil
}

func (i *interview) find(ctx context.Context, h *client.Handlers, q client.Question) (jsontext.Value, error) {
	if text, ok := i.given.take(q.Key); ok {
		if i.taken == nil {
			i.taken = make(map[string]bool)
		}
		i.taken[q.Key] = true
		return read(q, text)
	}
	if i.terminal == nil && (q.Method == protocol.MethodElicit || q.Method == protocol.MethodCreateMessage && i.sampleWith == "") {
		return nil, i.unanswered(q)
	}
	return h.HandleServerRequest(ctx, q)
}

// unanswered is the failure where nobody can answer q.
func (i *interview) unanswered(q client.Question) error {
	var p struct {
		Message string `json:"message"`
		Mode    string `json:"mode"`
		Schema  struct {
			Properties protocol.Properties `json:"properties"`
		} `json:"requestedSchema"`
	}
	_ = json.Unmarshal(q.Params, &p)
	hint := "--answer '" + q.Key + "="
	switch {
	case q.Method == protocol.MethodCreateMessage:
		hint += "TEXT', or --sample-with COMMAND"
	case p.Mode == protocol.ElicitURL:
		hint += "accept'"
	default:
		var fields []string
		for _, f := range p.Schema.Properties {
			name, _ := jsontext.AppendQuote(nil, f.Name)
			fields = append(fields, string(name)+":…")
		}
		hint += "{" + strings.Join(fields, ",") + "}'"
	}
	text := fmt.Sprintf("question %q has no answer, and %s", q.Key, i.why)
	if i.taken[q.Key] {
		text = fmt.Sprintf("question %q was answered and is asked again, there is no further answer, and %s", q.Key, i.why)
	}
	if p.Message != "" {
		text += fmt.Sprintf(": %q", p.Message)
	}
	if len(q.Invalid) > 0 {
		text += fmt.Sprintf(" (the last answer was not taken: %s)", strings.Join(q.Invalid, "; "))
	}
	return &failure{code: exitUsage, err: errors.New(text), hint: hint}
}

func (i *interview) form(ctx context.Context, q *client.FormQuestion) (protocol.ElicitResult, error) {
	if i.terminal == nil {
		return protocol.ElicitResult{}, i.unanswered(client.Question{Method: protocol.MethodElicit})
	}
	return i.terminal.Form(ctx, q)
}

func (i *interview) url(ctx context.Context, q *client.URLQuestion) (protocol.ElicitAction, error) {
	if i.terminal == nil {
		return "", i.unanswered(client.Question{Method: protocol.MethodElicit})
	}
	return i.terminal.URL(ctx, q)
}

func (i *interview) sample(ctx context.Context, p *protocol.CreateMessageParams) (*protocol.CreateMessageResult, error) {
	switch {
	case i.sampleWith != "":
		return sampleWith(ctx, i.sampleWith, p)
	case i.terminal == nil:
		return nil, i.unanswered(client.Question{Method: protocol.MethodCreateMessage})
	}
	text, err := i.terminal.Sample(ctx, p)
	if err != nil {
		return nil, err
	}
	return textMessage(text), nil
}

func (i *interview) listRoots(context.Context) ([]protocol.Root, error) {
	if i.roots == nil {
		return nil, usage("--root DIR, once for each, or --answer KEY='[]' for none", "the server asks for roots, and none are named")
	}
	return i.roots, nil
}

// parseRoots reads what --root names: paths, or URIs that begin with file://.
func parseRoots(given []string) ([]protocol.Root, error) {
	var roots []protocol.Root
	for _, g := range given {
		uri := g
		if !strings.HasPrefix(g, "file://") {
			path, err := filepath.Abs(g)
			if err != nil {
				return nil, usage("", "--root: %w", err)
			}
			uri = fileURI(path)
		}
		roots = append(roots, protocol.Root{URI: uri})
	}
	return roots, nil
}
