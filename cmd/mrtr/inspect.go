package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/go-json-experiment/json"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// inspector is what the flags of inspect say.
type inspector struct {
	key, accept, audience string
	answers, json         bool
}

// inspect is the command that reads a token.
func inspect(ctx context.Context, s stdio, f *flags) error {
	var o inspector
	f.StringVar(&o.key, "key", os.Getenv("MRTR_KMS_KEY_ID"), "KMS key that sealed it, as `id`, ARN or alias (MRTR_KMS_KEY_ID)")
	f.StringVar(&o.accept, "accept-keys", os.Getenv("MRTR_KMS_ACCEPT_KEY_IDS"), "further keys, `ids` with commas between them (MRTR_KMS_ACCEPT_KEY_IDS)")
	f.StringVar(&o.audience, "audience", os.Getenv("MRTR_AUDIENCE"), "`name` of the deployment that sealed it (MRTR_AUDIENCE)")
	f.BoolVar(&o.answers, "show-answers", false, "show answers, results of steps and a tool's own state")
	f.BoolVar(&o.json, "json", false, "print JSON")
	args, err := f.parse(0, 1)
	if err != nil {
		return err
	}
	token, err := readToken(s, args)
	if err != nil {
		return err
	}
	header, size, err := requeststate.ParseHeader(token)
	if err != nil {
		return usage("give the requestState as it came, as an argument or on standard input", "%w", plain(err))
	}
	seen := newSeen(token, header, size)
	if o.key != "" {
		i, err := o.open(ctx, token, header)
		if err != nil {
			_ = seen.write(s.out, o.json)
			return err
		}
		seen.add(i, o.audience, o.answers, time.Now())
	}
	if err := seen.write(s.out, o.json); err != nil {
		return err
	}
	if o.key == "" && !o.json {
		fmt.Fprintln(s.err, "hint: whoever may use the key sees more: --key and --audience, or MRTR_KMS_KEY_ID and MRTR_AUDIENCE")
	}
	return nil
}

// readToken returns the token on the command line, or else the one on standard
// input: there it may be part of a JSON-RPC message.
func readToken(s stdio, args []string) (string, error) {
	if len(args) == 1 && args[0] != "-" {
		return args[0], nil
	}
	b, err := io.ReadAll(io.LimitReader(s.in, 8<<20))
	if err != nil {
		return "", fmt.Errorf("reading standard input: %w", err)
	}
	text := strings.TrimSpace(string(b))
	if !strings.HasPrefix(text, "{") {
		return text, nil
	}
	// A message: the state is in it, its result or its params.
	var m protocol.Object
	if json.Unmarshal([]byte(text), &m) != nil {
		return "", usage("", "standard input is JSON that cannot be read")
	}
	for _, member := range [...]string{"", "result", "params"} {
		at := m
		if member != "" {
			at = nil
			_ = json.Unmarshal(m[member], &at)
		}
		var state string
		if json.Unmarshal(at["requestState"], &state) == nil && state != "" {
			return state, nil
		}
	}
	return "", usage("", "there is no requestState in the JSON on standard input")
}

// open reads the token with the keys of KMS. Their clock is set to the token's
// epoch, so that an old one is read too.
func (o *inspector) open(ctx context.Context, token string, h requeststate.Header) (*mrtr.Inspection, error) {
	if o.audience == "" {
		return nil, usage("--audience NAME, or MRTR_AUDIENCE", "the deployment's name is needed: its keys differ by it")
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("loading the AWS configuration: %w", err)
	}
	if cfg.Region == "" {
		return nil, usage("set AWS_REGION", "there is no AWS region")
	}
	keys, err := kmskeys.New(kms.NewFromConfig(cfg), kmskeys.Options{
		KeyID: o.key, AcceptKeyIDs: listed(o.accept), Audience: o.audience,
		Modes: []requeststate.Mode{requeststate.ModeDerived, requeststate.ModeStrict},
		Now:   func() time.Time { return h.EpochStart.Time() },
	})
	if err != nil {
		return nil, usage("", "%w", plain(err))
	}
	i, err := mrtr.Inspect(ctx, keys, token)
	var refused *requeststate.RefusedError
	if !errors.As(err, &refused) {
		return i, err
	}
	hint := ""
	switch refused.Reason {
	case requeststate.ReasonMode:
		hint = "a local run seals under a key of its own, which ends with it"
	case requeststate.ReasonKey:
		hint = "the fingerprint is another key's: --accept-keys takes further ones"
	case requeststate.ReasonForged:
		hint = "was it changed, or is the audience another one?"
	}
	return nil, &failure{code: exitFailed, err: fmt.Errorf("the key does not open the token: %s", refused.Reason), hint: hint}
}

// plain returns an error without the name of its package.
func plain(err error) error {
	_, text, ok := strings.Cut(err.Error(), ": ")
	if !ok {
		return err
	}
	return errors.New(text)
}

// listed splits a list with commas.
func listed(text string) []string {
	var out []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
