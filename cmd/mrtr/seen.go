package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/cmd/mrtr/internal/prompt"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// seen is what is shown of a token. Members that take the key are in Claims.
type seen struct {
	Version     int         `json:"version"`
	Mode        string      `json:"mode"`
	Purpose     string      `json:"purpose"`
	Fingerprint string      `json:"fingerprint"`
	Epoch       *time.Time  `json:"epoch,omitzero"`
	Characters  int         `json:"characters"`
	Bytes       int         `json:"bytes"`
	Claims      *seenClaims `json:"claims,omitzero"`
}

type seenClaims struct {
	Method       string       `json:"method"`
	Target       string       `json:"target,omitzero"`
	Revision     string       `json:"revision,omitzero"`
	Round        uint16       `json:"round,omitzero"`
	Flow         string       `json:"flow"`
	IssuedAt     time.Time    `json:"issuedAt"`
	RoundExpiry  time.Time    `json:"roundExpiry"`
	FlowDeadline time.Time    `json:"flowDeadline"`
	Audience     string       `json:"audience"`
	Principal    string       `json:"principal,omitzero"`
	Arguments    string       `json:"arguments"`
	Traceparent  string       `json:"traceparent,omitzero"`
	Log          []seenEntry  `json:"log,omitzero"`
	Own          *seenValue   `json:"own,omitzero"`
	Asked        []string     `json:"asked,omitzero"`
	Yields       int          `json:"yields,omitzero"`
	Session      *seenSession `json:"session,omitzero"`
	audienceName string       // the one it is
	now          time.Time
}

type seenEntry struct {
	Step      string         `json:"step,omitzero"`
	Result    *seenValue     `json:"result,omitzero"`
	Open      bool           `json:"open,omitzero"`
	Questions []seenQuestion `json:"questions,omitzero"`
}

type seenQuestion struct {
	Key     string     `json:"key"`
	Confirm bool       `json:"confirm,omitzero"`
	Outcome string     `json:"outcome,omitzero"`
	Answer  *seenValue `json:"answer,omitzero"`
}

// seenValue is what a user or a step gave: its size, and itself where that is
// asked for.
type seenValue struct {
	Bytes int            `json:"bytes"`
	Value jsontext.Value `json:"value,omitzero"`
}

type seenSession struct {
	Version      string   `json:"version"`
	Capabilities []string `json:"capabilities"`
}

func newSeen(token string, h requeststate.Header, size int) *seen {
	s := &seen{
		Version: requeststate.Version, Mode: h.Mode.String(), Purpose: h.Purpose.String(),
		Fingerprint: hex.EncodeToString(h.Fingerprint[:]), Characters: len(token), Bytes: size,
	}
	if h.EpochStart != 0 {
		s.Epoch = new(h.EpochStart.Time())
	}
	return s
}

// add adds what the key gave. audience is the name that the user says.
func (s *seen) add(i *mrtr.Inspection, audience string, values bool, now time.Time) {
	c := i.Claims
	claims := &seenClaims{
		Method: c.Method, Target: c.Target, Revision: c.Revision, Round: c.Round, Flow: hex.EncodeToString(c.FlowID[:]),
		IssuedAt: c.IssuedAt, RoundExpiry: c.RoundExpiry, FlowDeadline: c.FlowDeadline,
		Audience: hex.EncodeToString(c.Audience[:]), Arguments: hex.EncodeToString(c.Arguments[:]), Traceparent: c.Traceparent,
		Asked: i.Asked, Yields: i.Yields, now: now,
	}
	if c.Principal != nil {
		claims.Principal = hex.EncodeToString(c.Principal[:])
	}
	if c.Audience == requeststate.AudienceDigest(audience) {
		claims.audienceName = audience
	}
	value := func(v jsontext.Value) *seenValue {
		if v == nil {
			return nil
		}
		sv := &seenValue{Bytes: len(v)}
		if values {
			sv.Value = v
		}
		return sv
	}
	for _, e := range i.Log {
		entry := seenEntry{Step: e.Step, Result: value(e.Result), Open: e.Open}
		for _, q := range e.Questions {
			entry.Questions = append(entry.Questions, seenQuestion{q.Key, q.Confirm, q.Outcome, value(q.Answer)})
		}
		claims.Log = append(claims.Log, entry)
	}
	if i.Own != nil {
		quoted, _ := jsontext.AppendQuote(nil, i.Own) // whatever it is, it is shown
		claims.Own = value(quoted)
		claims.Own.Bytes = len(i.Own)
	}
	if i.Session != nil {
		claims.Session = &seenSession{i.Session.Version, i.Session.Capabilities}
	}
	s.Claims = claims
}

// write writes what is seen, for people or as JSON.
func (s *seen) write(w io.Writer, asJSON bool) error {
	if asJSON {
		b, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("encoding: %w", err)
		}
		fmt.Fprintln(w, prompt.Text(string(b)))
		return nil
	}
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-12s %s\n", name, prompt.Line(fmt.Sprintf(format, args...)))
	}
	line("version", "%d", s.Version)
	line("mode", "%s", s.Mode)
	line("purpose", "%s", s.Purpose)
	line("fingerprint", "%s", s.Fingerprint)
	if s.Epoch != nil {
		line("epoch", "%s", s.Epoch.Format(time.RFC3339))
	}
	line("size", "%d characters, %d bytes", s.Characters, s.Bytes)
	if s.Claims != nil {
		s.Claims.write(line)
	}
	return nil
}

func (c *seenClaims) write(line func(name, format string, args ...any)) {
	line("method", "%s", c.Method)
	for _, l := range [...]struct{ name, value string }{{"target", c.Target}, {"revision", c.Revision}} {
		if l.value != "" {
			line(l.name, "%s", l.value)
		}
	}
	if c.Round > 0 {
		line("round", "%d", c.Round)
	}
	line("flow", "%s", c.Flow)
	line("issued", "%s", c.when(c.IssuedAt, "ago"))
	line("expires", "%s", c.when(c.RoundExpiry, "expired"))
	line("flow ends", "%s", c.when(c.FlowDeadline, "ended"))
	audience := c.Audience
	if c.audienceName != "" {
		audience += fmt.Sprintf(" (%s)", c.audienceName)
	}
	line("audience", "%s", audience)
	if c.Principal == "" {
		line("principal", "none")
	} else {
		line("principal", "%s", c.Principal)
	}
	line("arguments", "%s", c.Arguments)
	if c.Traceparent != "" {
		line("traceparent", "%s", c.Traceparent)
	}
	if c.Session != nil {
		line("session", "%s %v", c.Session.Version, c.Session.Capabilities)
	}
	for _, e := range c.Log {
		if e.Step != "" {
			line("step", "%s: %s", e.Step, e.Result)
		}
		for _, q := range e.Questions {
			line("question", "%s", q)
		}
	}
	if c.Own != nil {
		line("own state", "%s", c.Own)
	}
	for _, key := range c.Asked {
		line("asked", "%s", key)
	}
	if c.Yields > 0 {
		line("yields", "%d", c.Yields)
	}
}

// String describes a question of the log.
func (q seenQuestion) String() string {
	s := q.Key
	if q.Confirm {
		s += " (a confirmation)"
	}
	if q.Outcome == "" {
		return s + ": not answered"
	}
	s += ": " + q.Outcome
	if q.Answer != nil {
		s += ": " + q.Answer.String()
	}
	return s
}

// String returns the value, or its size where it is not shown.
func (v *seenValue) String() string {
	if v.Value == nil {
		return fmt.Sprintf("%d bytes, hidden", v.Bytes)
	}
	return string(v.Value)
}

// when returns a time and how far it is from now.
func (c *seenClaims) when(t time.Time, past string) string {
	d := t.Sub(c.now).Round(time.Second)
	text := t.Format(time.RFC3339)
	switch {
	case d >= 0:
		return fmt.Sprintf("%s (in %v)", text, d)
	case past == "ago":
		return fmt.Sprintf("%s (%v ago)", text, -d)
	}
	return fmt.Sprintf("%s (%s %v ago)", text, past, -d)
}
