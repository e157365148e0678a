// Command client is what the official conformance suite judges as a client:
// mrtr/client for the calls, the official Go SDK for the session and for OAuth.
//
//	client URL
//
// The suite names what to do in MCP_CONFORMANCE_SCENARIO, the revision to speak
// in MCP_CONFORMANCE_PROTOCOL_VERSION, and what a scenario needs beside them in
// MCP_CONFORMANCE_CONTEXT, a JSON object. A run that went as it should prints
// "done"; what a server does wrong must be refused, and is then "done" too.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// patience is shorter than the suite's, so that the client says what it waited for.
const patience = 25 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "client: %v\n", err)
		os.Exit(1)
	}
}

// run plays one scenario.
func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("name the server's URL")
	}
	name := getenv("MCP_CONFORMANCE_SCENARIO")
	s, ok := scenarios[name]
	if !ok {
		return fmt.Errorf("the scenario %q is not supported", name)
	}
	var g given
	if raw := getenv("MCP_CONFORMANCE_CONTEXT"); raw != "" {
		if err := json.Unmarshal([]byte(raw), &g); err != nil {
			return fmt.Errorf("reading MCP_CONFORMANCE_CONTEXT: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := s.run(ctx, args[0], getenv("MCP_CONFORMANCE_PROTOCOL_VERSION"), &g)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("waiting for the end: %w", ctx.Err())
	case s.refuses && err == nil:
		return errors.New("it went well, and should have been refused")
	case !s.refuses && err != nil:
		return err
	}
	_, err = fmt.Fprintln(out, "done")
	return err
}

// given is what the suite gives a scenario beside the URL.
type given struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	ToolCalls    []struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	} `json:"toolCalls"`
}
