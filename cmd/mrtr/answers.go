package main

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// answers are those that the command line gives, by question key. Each is used
// once, in the order given.
type answers map[string][]string

const answerHint = `--answer KEY=JSON: a form's content, or accept, decline or cancel; a model's text; a list of roots`

func parseAnswers(given []string) (answers, error) {
	a := answers{}
	for _, g := range given {
		key, text, ok := strings.Cut(g, "=")
		if !ok {
			return nil, usage(answerHint, "--answer is not of the form KEY=JSON")
		}
		a[key] = append(a[key], text)
	}
	return a, nil
}

// take returns the next answer to a question.
func (a answers) take(key string) (string, bool) {
	left := a[key]
	if len(left) == 0 {
		return "", false
	}
	if a[key] = left[1:]; len(left) == 1 {
		delete(a, key)
	}
	return left[0], true
}

// unused returns the keys of answers that no question took.
func (a answers) unused() []string { return sortedKeys(a) }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// read returns the result that answers q.
func read(q client.Question, text string) (jsontext.Value, error) {
	bad := func(want string) (jsontext.Value, error) {
		return nil, usage(answerHint, "the answer to %q is not %s", q.Key, want)
	}
	raw := jsontext.Value(strings.TrimSpace(text))
	valid := raw.IsValid()
	word := string(raw)
	if valid && raw.Kind() == '"' {
		_ = json.Unmarshal(raw, &word)
	}
	var members protocol.Object
	if valid && raw.Kind() == '{' {
		_ = json.Unmarshal(raw, &members)
	}
	switch q.Method {
	case protocol.MethodElicit:
		switch protocol.ElicitAction(word) {
		case protocol.ElicitAccept:
			return client.Accept(nil)
		case protocol.ElicitDecline:
			return client.Decline(), nil
		case protocol.ElicitCancel:
			return client.Cancel(), nil
		}
		if members == nil {
			return bad("a JSON object, accept, decline or cancel")
		}
		if members["action"] != nil && !hasField(q, "action") {
			return raw, nil // the whole result
		}
		return client.Accept(members)
	case protocol.MethodCreateMessage:
		if members != nil {
			return raw, nil
		}
		return json.Marshal(textMessage(word))
	case protocol.MethodListRoots:
		if members != nil {
			return raw, nil
		}
		var list []jsontext.Value
		if !valid || json.Unmarshal(raw, &list) != nil {
			return bad("a JSON list of roots")
		}
		roots := protocol.ListRootsResult{Roots: []protocol.Root{}}
		for _, v := range list {
			var r protocol.Root
			if json.Unmarshal(v, &r.URI) != nil && json.Unmarshal(v, &r) != nil {
				return bad("a JSON list of roots")
			}
			roots.Roots = append(roots.Roots, r)
		}
		return json.Marshal(roots)
	}
	return bad("possible")
}

// hasField reports whether q is a form with a field of this name.
func hasField(q client.Question, name string) bool {
	var p struct {
		Schema struct {
			Properties protocol.Object `json:"properties"`
		} `json:"requestedSchema"`
	}
	return json.Unmarshal(q.Params, &p) == nil && p.Schema.Properties[name] != nil
}

// textMessage is a model's message that is just text.
func textMessage(text string) *protocol.CreateMessageResult {
	return &protocol.CreateMessageResult{Role: "assistant", Content: protocol.SamplingContent{protocol.Text(text)}, Model: "mrtr"}
}
