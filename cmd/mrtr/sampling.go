package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// sampleWith runs a shell command in place of a model: it reads the params of
// the request as JSON and writes the message, as text or as the JSON of a
// CreateMessageResult.
func sampleWith(ctx context.Context, command string, p *protocol.CreateMessageParams) (*protocol.CreateMessageResult, error) {
	in, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encoding the request for --sample-with: %w", err)
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Stdin = bytes.NewReader(append(in, '\n'))
	cmd.WaitDelay = time.Second // for what it leaves behind
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		last := bytes.TrimSpace(exit.Stderr)
		if n := bytes.LastIndexByte(last, '\n'); n >= 0 {
			last = last[n+1:]
		}
		return nil, usage(string(last), "the command of --sample-with failed: %w", err)
	}
	if err != nil {
		return nil, usage("", "running the command of --sample-with: %w", err)
	}
	var m protocol.CreateMessageResult
	if raw := jsontext.Value(bytes.TrimSpace(out)); raw.IsValid() && raw.Kind() == '{' && json.Unmarshal(raw, &m) == nil && m.Role != "" {
		return &m, nil
	}
	return textMessage(strings.TrimRight(string(out), "\n")), nil
}

// fileURI returns the URI of an absolute path.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // a drive
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
