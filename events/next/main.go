// Command next makes the event of a call's next round, which needs a state that
// the endpoint has just sealed:
//
//	next -answers JSON EVENT REPLY
//
// EVENT is the file of the round that was played, REPLY that of the function's
// reply to it, and the answers are inputResponses as MCP has them. The new event
// goes to standard output. States are in it, so it is no file to keep.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "next: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("next", flag.ContinueOnError)
	answers := flags.String("answers", "", "`JSON` object with an answer to each question; empty: none are answered")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return fmt.Errorf("reading the command line: %w", err)
	}
	if flags.NArg() != 2 {
		return errors.New("name the event and the reply to it")
	}
	event, err := os.ReadFile(flags.Arg(0))
	if err != nil {
		return fmt.Errorf("reading the event: %w", err)
	}
	reply, err := os.ReadFile(flags.Arg(1))
	if err != nil {
		return fmt.Errorf("reading the reply: %w", err)
	}
	next, err := nextRound(event, reply, jsontext.Value(*answers))
	if err != nil {
		return err
	}
	_, err = out.Write(next)
	return err
}

// nextRound returns the event of the round after the one that event began and
// reply ended.
func nextRound(event, reply []byte, answers jsontext.Value) ([]byte, error) {
	var e map[string]jsontext.Value
	if err := json.Unmarshal(event, &e); err != nil {
		return nil, fmt.Errorf("reading the event: %w", err)
	}
	var body string
	var headers map[string]string
	switch {
	case string(e["isBase64Encoded"]) == "true":
		return nil, errors.New("the event's body is encoded in base64; take one whose body is text")
	case json.Unmarshal(e["body"], &body) != nil || json.Unmarshal(e["headers"], &headers) != nil:
		return nil, errors.New("the event has no body or no headers")
	}
	state, err := stateOf(reply)
	if err != nil {
		return nil, err
	}
	if body, err = nextBody(body, state, answers); err != nil {
		return nil, err
	}
	if _, ok := headers["content-length"]; ok {
		headers["content-length"] = strconv.Itoa(len(body))
	}
	if e["body"], err = json.Marshal(body); err != nil {
		return nil, err
	}
	if e["headers"], err = json.Marshal(headers, json.Deterministic(true)); err != nil {
		return nil, err
	}
	return json.Marshal(e, json.Deterministic(true), jsontext.WithIndent("  "))
}

// stateOf returns the requestState in a reply as a JSON string.
func stateOf(reply []byte) (jsontext.Value, error) {
	var r struct {
		Body string `json:"body"`
	}
	if err := json.Unmarshal(reply, &r); err != nil {
		return nil, fmt.Errorf("reading the reply: %w", err)
	}
	var body struct {
		Result struct {
			State jsontext.Value `json:"requestState"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
		return nil, fmt.Errorf("reading the reply's body: %w", err)
	}
	if body.Result.State.Kind() != '"' {
		return nil, errors.New("the reply has no requestState: it asks nothing")
	}
	return body.Result.State, nil
}

// nextBody returns the same request under a new id, with state and answers.
func nextBody(body string, state, answers jsontext.Value) (string, error) {
	var request struct {
		Version string                    `json:"jsonrpc"`
		ID      int64                     `json:"id"`
		Method  string                    `json:"method"`
		Params  map[string]jsontext.Value `json:"params"`
	}
	if err := json.Unmarshal([]byte(body), &request); err != nil {
		return "", fmt.Errorf("reading the event's body: %w", err)
	}
	if request.Params == nil {
		return "", errors.New("the event's body is no call")
	}
	request.ID++
	request.Params["requestState"] = state
	delete(request.Params, "inputResponses")
	if len(answers) > 0 {
		if answers.Kind() != '{' || !answers.IsValid() {
			return "", errors.New("-answers is no JSON object")
		}
		request.Params["inputResponses"] = answers
	}
	next, err := json.Marshal(&request, json.Deterministic(true))
	return string(next), err
}
