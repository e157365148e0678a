package mrtr_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/conformance/fixture"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

var update = flag.Bool("update", false, "write the responses of the golden conversations")

// A conversation is a txtar file in testdata/conversations: requests, written
// by hand, each followed by the response, written by -update. A message is
// headers, an empty line, and the body. A request has the headers that a modern
// client makes from its body, changed by those it writes out ("-" takes one
// away). The section name "bad request" says that the schema of the revision
// does not hold for it.
//
// Strings that differ from run to run are replaced: a state by "<state 1>",
// where the number counts the responses, a session id by "<session>". A request
// uses them by these names.

// conversationServer serves the fixture's seven tools, a tool that books a
// trip, a prompt and two resources.
func conversationServer(t *testing.T) http.Handler {
	srv := mrtr.NewServer(protocol.Implementation{Name: "conversations", Version: "1.0.0", Title: "Conversations"}, &mrtr.ServerOptions{Instructions: "Ask for what you need."})
	fixture.Register(srv)
	type tripInput struct {
		City string `json:"city" jsonschema:"where to"`
	}
	type dates struct {
		From   string `json:"from" form:"title=First day,format=date"`
		Nights int    `json:"nights" form:"min=1,max=30,default=2"`
		Class  string `json:"class,omitzero" form:"enum=economy|business"`
	}
	type receipt struct {
		City   string `json:"city"`
		Nights int    `json:"nights"`
		Price  int    `json:"price"`
	}
	mrtr.AddTool(srv, mrtr.Tool{Name: "book_trip", Title: "Book a trip", Description: "Books a trip."},
		func(ctx context.Context, c *mrtr.Call, in tripInput) (receipt, error) {
			var when dates
			var seat nameForm
			var wantsSeat bool
			if err := mrtr.AskAll(c,
				mrtr.Form("dates", "When do you want to go to "+in.City+"?", &when),
				mrtr.Optional(mrtr.Form("seat", "Which seat?", &seat), &wantsSeat),
			); err != nil {
				return receipt{}, err
			}
			price, err := mrtr.Step(ctx, c, "quote", func(context.Context) (int, error) {
				c.Progress(1, 2, "asked the airline")
				return 100 * when.Nights, nil
			})
			if err != nil {
				return receipt{}, err
			}
			if err := mrtr.Confirm(c, "confirm", fmt.Sprintf("Book %d nights for %d?", when.Nights, price)); err != nil {
				return receipt{}, err
			}
			c.Log(protocol.LevelInfo, "booking", map[string]any{"booked": in.City})
			return receipt{in.City, when.Nights, price}, nil
		})
	tool(srv, "sign_in", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
		if err := mrtr.AskAll(c, mrtr.URL("sign_in", "Please sign in.", "https://id.example/start")); err != nil {
			return nil, err
		}
		return mrtr.Text("Signed in."), nil
	})
	tool(srv, "fails", func(context.Context, *mrtr.Call) (*mrtr.Result, error) {
		return nil, mrtr.Errorf("There are no flights.")
	})
	tool(srv, "panics", func(context.Context, *mrtr.Call) (*mrtr.Result, error) { panic("detail") })
	mrtr.AddPrompt(srv, mrtr.Prompt{
		Name: "letter", Description: "A letter.", Arguments: []protocol.PromptArgument{{Name: "to", Required: true}},
		Complete: map[string]mrtr.Completer{"to": func(_ context.Context, typed string, _ map[string]string) ([]string, error) {
			return slices.DeleteFunc([]string{"Alice", "Bob"}, func(s string) bool { return !strings.HasPrefix(s, typed) }), nil
		}},
	}, func(_ context.Context, c *mrtr.Call, args map[string]string) (*protocol.GetPromptResult, error) {
		from, err := mrtr.Ask[nameForm](c, "from", "Who writes?")
		if err != nil {
			return nil, err
		}
		return &protocol.GetPromptResult{Messages: []protocol.PromptMessage{
			{Role: "user", Content: protocol.Text("Write a letter from " + from.Name + " to " + args["to"] + ".")},
		}}, nil
	})
	mrtr.AddResource(srv, mrtr.Resource{URI: "note:///open", Name: "open", MIMEType: "text/plain", Cache: mrtr.Cache{TTL: time.Minute, Shared: true}},
		func(context.Context, *mrtr.Call) ([]protocol.ResourceContents, error) {
			return []protocol.ResourceContents{{URI: "note:///open", MIMEType: "text/plain", Text: "An open note."}}, nil
		})
	mrtr.AddResourceTemplate(srv, mrtr.ResourceTemplate{URITemplate: "note:///of/{who}", Name: "notes"},
		func(_ context.Context, c *mrtr.Call, uri string, vars map[string]string) ([]protocol.ResourceContents, error) {
			if err := mrtr.Confirm(c, "sure", "Show the notes of "+vars["who"]+"?"); err != nil {
				return nil, err
			}
			return []protocol.ResourceContents{{URI: uri, Text: "A note of " + vars["who"] + "."}}, nil
		})
	now := time.Unix(1_800_000_000, 0)
	h, err := srv.Handler(mrtr.HandlerOptions{
		Keys: newSwitchKeys(t), Audience: "conversations", AllowAnonymous: true, Now: func() time.Time { return now },
		AllowedOrigins: []string{"https://app.example"}, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	return h
}

// section is one message of a conversation.
type section struct {
	name   string // "request", "bad request" or "response"
	header map[string]string
	status int    // of a response
	body   string // JSON, or server-sent events
}

func parseSection(t *testing.T, f txtar.File) section {
	s := section{name: f.Name, header: map[string]string{}}
	head, body, _ := strings.Cut("\n"+string(f.Data), "\n\n")
	s.body = strings.TrimSpace(body)
	for line := range strings.Lines(head) {
		line = strings.TrimSpace(line)
		if name, value, ok := strings.Cut(line, ":"); ok {
			s.header[name] = strings.TrimSpace(value)
		} else if line != "" {
			status, err := strconv.Atoi(line)
			require.NoError(t, err, "no header and no status: %q", line)
			s.status = status
		}
	}
	return s
}

func (s section) format() []byte {
	var b strings.Builder
	if s.status != 0 {
		fmt.Fprintln(&b, s.status)
	}
	for _, name := range slices.Sorted(maps.Keys(s.header)) {
		fmt.Fprintln(&b, strings.TrimSpace(name+": "+s.header[name]))
	}
	if s.body != "" {
		fmt.Fprintf(&b, "\n%s\n", s.body)
	}
	return []byte(b.String())
}

// names are the strings of a run that have a name in the files.
type names struct{ byName map[string]string }

func (n *names) put(name, value string) {
	if value != "" {
		n.byName[name] = value
	}
}

func (n *names) expand(s string) string {
	for name, value := range n.byName {
		s = strings.ReplaceAll(s, name, value)
	}
	return s
}

func (n *names) collapse(s string) string {
	for name, value := range n.byName {
		s = strings.ReplaceAll(s, value, name)
	}
	return s
}

// httpRequest makes the request of a section.
func (s section) httpRequest(t *testing.T, n *names) *http.Request {
	var m struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
			URI  string `json:"uri"`
			Meta struct {
				Version string `json:"io.modelcontextprotocol/protocolVersion"`
			} `json:"_meta"`
		} `json:"params"`
	}
	if s.name == "request" {
		require.NoError(t, json.Unmarshal([]byte(s.body), &m))
	} else {
		_ = json.Unmarshal([]byte(s.body), &m)
	}
	hr := httptest.NewRequest(http.MethodPost, "http://mcp.example/mcp", strings.NewReader(n.expand(s.body)))
	hr.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for name, value := range map[string]string{
		jsonrpc.HeaderProtocolVersion: m.Params.Meta.Version,
		jsonrpc.HeaderMethod:          m.Method,
		jsonrpc.HeaderName:            jsonrpc.EncodeHeaderValue(m.Params.Name + m.Params.URI),
	} {
		if value != "" && m.Params.Meta.Version != "" {
			hr.Header.Set(name, value)
		}
	}
	for name, value := range s.header {
		switch {
		case name == "HTTP-Method":
			hr.Method = value
		case value == "-":
			hr.Header.Del(name)
		default:
			hr.Header.Set(name, n.expand(value))
		}
	}
	return hr
}

// response turns what came back into a section, and gives names to what is new
// in it.
func responseSection(t *testing.T, w *httptest.ResponseRecorder, n *names, number int) section {
	s := section{name: "response", status: w.Code, header: map[string]string{}}
	for name := range w.Header() {
		s.header[name] = strings.Join(w.Header().Values(name), ", ")
	}
	n.put("<session>", w.Header().Get(jsonrpc.HeaderSessionID))
	var lines []string
	for _, message := range messages(t, w) {
		var r struct {
			Result struct {
				State string `json:"requestState"`
			} `json:"result"`
		}
		require.NoError(t, json.Unmarshal([]byte(message), &r))
		n.put(fmt.Sprintf("<state %d>", number), r.Result.State)
		v := jsontext.Value(message)
		require.NoError(t, v.Indent(jsontext.WithIndent("  ")))
		lines = append(lines, string(v))
	}
	s.body = n.collapse(strings.Join(lines, "\n\n"))
	for name, value := range s.header {
		s.header[name] = n.collapse(value)
	}
	return s
}

// messages returns the JSON-RPC messages of a response: its body, or the data of
// its events.
func messages(t *testing.T, w *httptest.ResponseRecorder) []string {
	body := w.Body.String()
	switch w.Header().Get("Content-Type") {
	case "":
		require.Empty(t, body)
		return nil
	case "application/json":
		return []string{body}
	}
	require.Equal(t, "text/event-stream", w.Header().Get("Content-Type"))
	var out []string
	for event := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		lines := bufio.NewScanner(strings.NewReader(event))
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				out = append(out, data)
			} else {
				require.Equal(t, "event: message", lines.Text())
			}
		}
	}
	return out
}

// playConversation plays the requests of a file and returns it with the
// responses that came.
func playConversation(t *testing.T, a *txtar.Archive) *txtar.Archive {
	h := conversationServer(t)
	n := &names{byName: map[string]string{}}
	out := &txtar.Archive{Comment: a.Comment}
	for _, f := range a.Files {
		if f.Name == "response" {
			continue
		}
		require.Contains(t, []string{"request", "bad request"}, f.Name)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, parseSection(t, f).httpRequest(t, n))
		number := len(out.Files)/2 + 1
		out.Files = append(out.Files, f, txtar.File{Name: "response", Data: responseSection(t, w, n, number).format()})
	}
	return out
}

func conversationFiles(t *testing.T) []string {
	files, err := filepath.Glob(filepath.Join("testdata", "conversations", "*.txtar"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "no conversations in testdata")
	return files
}

// TestConversations plays the golden conversations.
func TestConversations(t *testing.T) {
	for _, file := range conversationFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			require.NoError(t, err)
			require.NotEmpty(t, a.Comment, "a conversation says what it shows")
			got := txtar.Format(playConversation(t, a))
			if *update {
				require.NoError(t, os.WriteFile(file, got, 0o644))
				return
			}
			require.Equal(t, string(txtar.Format(a)), string(got), "run go test -run TestConversations -update, and look at the difference")
		})
	}
}
