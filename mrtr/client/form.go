package client

import (
	"maps"
	"net/mail"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/schema"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// FormQuestion is a form to fill in.
type FormQuestion struct {
	Key     string // the question's key; empty for a request of a handshake server
	Message string
	Schema  protocol.FormSchema // the fields, in the order to show them
	Raw     jsontext.Value      // the schema as it came
	Invalid []string            // as in Question

	defaults protocol.Object
	rules    *schema.Schema
}

// form reads the form of an elicitation in form mode.
func (q *Question) form(e elicitation) (*FormQuestion, error) {
	f := &FormQuestion{Key: q.Key, Message: e.Message, Raw: e.Schema, Invalid: q.Invalid, defaults: protocol.Object{}}
	var members, properties protocol.Object
	var typ string
	if e.Schema.Kind() != '{' || json.Unmarshal(e.Schema, &f.Schema) != nil || json.Unmarshal(e.Schema, &members) != nil ||
		json.Unmarshal(members["properties"], &properties) != nil || properties == nil ||
		json.Unmarshal(members["type"], &typ) != nil || typ != "object" {
		return nil, q.refuse(ErrMalformed, "requestedSchema")
	}
	for name, p := range properties {
		var field struct {
			Default jsontext.Value `json:"default"`
		}
		if json.Unmarshal(p, &field) == nil && field.Default != nil {
			f.defaults[name] = field.Default
		}
	}
	delete(members, "$schema") // forms are small enough to mean the same in all dialects
	plain, err := json.Marshal(members)
	if err == nil {
		f.rules, err = schema.Parse(plain)
	}
	if err != nil {
		return nil, q.refuse(ErrMalformed, "requestedSchema")
	}
	return f, nil
}

// Defaults returns what the form's fields are to be filled with at first, by
// name. The values are the server's and need not fit.
func (f *FormQuestion) Defaults() protocol.Object { return maps.Clone(f.defaults) }

// Fill returns content with the defaults of the fields that it leaves out. A
// field that is null is left out, without its default.
func (f *FormQuestion) Fill(content protocol.Object) protocol.Object {
	filled := f.Defaults()
	for name, v := range content {
		if filled[name] = v; v.Kind() == 'n' {
			delete(filled, name)
		}
	}
	return filled
}

// Check returns what is wrong with content, nothing if it can be sent. The
// texts name fields and rules, never values.
func (f *FormQuestion) Check(content protocol.Object) []string {
	raw, err := json.Marshal(content)
	if err != nil {
		return []string{"the content is not JSON"}
	}
	var problems []string
	for _, v := range f.rules.Validate(raw) {
		problems = append(problems, v.String())
	}
	if problems != nil {
		return problems
	}
	known := make(map[string]bool, len(f.Schema.Properties))
	for _, p := range f.Schema.Properties {
		known[p.Name] = true
		s, ok := p.Schema.(*protocol.StringSchema)
		var text string
		if v := content[p.Name]; !ok || v == nil || json.Unmarshal(v, &text) != nil {
			continue
		}
		if rule := checkFormat(s.Format, text); rule != "" {
			problems = append(problems, "/"+p.Name+" "+rule)
		}
	}
	for name := range content {
		if !known[name] {
			return append(problems, "there is a field that the form does not have")
		}
	}
	return problems
}

// checkFormat returns the rule that text breaks, if it does. Formats that forms
// do not have are not checked.
func checkFormat(format, text string) string {
	switch format {
	case protocol.FormatEmail:
		if a, err := mail.ParseAddress(text); err != nil || a.Address != text {
			return "must be an email address"
		}
	case protocol.FormatURI:
		if u, err := url.Parse(text); err != nil || !u.IsAbs() {
			return "must be an absolute URI"
		}
	case protocol.FormatDate:
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return "must be a date, as in 2006-01-02"
		}
	case protocol.FormatDateTime:
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			return "must be a date and time with zone, as in 2006-01-02T15:04:05Z"
		}
	}
	return ""
}
