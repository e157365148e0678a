package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mrtr-lambda/mrtr-lambda/conformance/fixture"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// setup gives a script servers of its own.
func setup(env *testscript.Env) error {
	good := httptest.NewServer(testHandler())
	env.Defer(good.Close)
	odd := httptest.NewServer(http.HandlerFunc(oddServer))
	env.Defer(odd.Close)
	guarded := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		signed := strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=")
		if r.Header.Get("Authorization") != "Bearer t0ken" && !signed {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		good.Config.Handler.ServeHTTP(w, r)
	}))
	env.Defer(guarded.Close)
	env.Setenv("GUARDED", guarded.URL+"/mcp")
	moved := httptest.NewServer(http.RedirectHandler(good.URL+"/mcp", http.StatusTemporaryRedirect))
	env.Defer(moved.Close)
	env.Setenv("MOVED", moved.URL+"/mcp")
	paged := httptest.NewServer(http.HandlerFunc(pagedServer))
	env.Defer(paged.Close)
	env.Setenv("PAGES", paged.URL)
	silent := httptest.NewServer(http.HandlerFunc(silentServer))
	env.Defer(silent.Close)
	env.Setenv("SILENT", silent.URL+"/mcp")
	env.Setenv("URL", good.URL+"/mcp")
	env.Setenv("ODD", odd.URL+"/mcp")
	env.Setenv("XDG_CONFIG_HOME", env.Getenv("WORK")+"/config")
	env.Setenv("HOME", env.Getenv("WORK"))
	env.Vars = append(env.Vars, raceOptions)
	return sealed(env)
}

// sealed gives a script a KMS and states that were sealed with its key: $TOKEN,
// also in the files token and reply, $STRICT in strict mode, and $OLD of three
// days ago.
func sealed(env *testscript.Env) error {
	server := kmstest.NewServer(kmstest.Options{})
	env.Defer(server.Close)
	key := server.CreateKey(kmstest.KeyOptions{})
	env.Vars = append(env.Vars, server.Env()...)
	env.Setenv("KEY", key.ID)
	work := env.Getenv("WORK")
	for _, tt := range []struct {
		name string
		mode requeststate.Mode
		age  time.Duration
	}{
		{"TOKEN", requeststate.ModeDerived, 0},
		{"STRICT", requeststate.ModeStrict, 0},
		{"OLD", requeststate.ModeDerived, 72 * time.Hour},
	} {
		now := func() time.Time { return time.Now().Add(-tt.age) }
		keys, err := kmskeys.New(server.Client(), kmskeys.Options{
			KeyID: key.ID, Audience: "test", Modes: []requeststate.Mode{tt.mode}, Now: now,
		})
		if err != nil {
			return err
		}
		reply, err := askedTwice(testHandler(func(o *mrtr.HandlerOptions) { o.Keys, o.Now = keys, now }))
		if err != nil {
			return err
		}
		_, rest, ok := strings.Cut(reply, `"requestState":"`)
		if !ok {
			return fmt.Errorf("no state: %s", reply)
		}
		token, _, _ := strings.Cut(rest, `"`)
		env.Setenv(tt.name, token)
		if tt.name != "TOKEN" {
			continue
		}
		if err := os.WriteFile(filepath.Join(work, "reply"), []byte(reply), 0o600); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(work, "token"), []byte(token+"\n"), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// askedTwice calls the tool of two rounds with the first answer, and returns the
// reply that asks for the second.
func askedTwice(h http.Handler) (string, error) {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{
		"name":"test_incomplete_result_multi_round","inputResponses":{"step1":{"action":"accept","content":{"name":"Alice"}}},
		"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`))
	for name, value := range map[string]string{
		"Content-Type": "application/json", "MCP-Protocol-Version": "2026-07-28",
		"Mcp-Method": "tools/call", "Mcp-Name": "test_incomplete_result_multi_round",
	} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		return "", fmt.Errorf("HTTP %d: %s", w.Code, w.Body)
	}
	return w.Body.String(), nil
}

// testHandler serves the fixture's tools and some more.
func testHandler(configure ...func(*mrtr.HandlerOptions)) http.Handler {
	srv := mrtr.NewServer(protocol.Implementation{Name: "test", Version: "1"}, nil)
	fixture.Register(srv)
	mrtr.AddTool(srv, mrtr.Tool{Name: "echo", Title: "Echo", Description: "Says what it got."}, echo)
	mrtr.AddTool(srv, mrtr.Tool{Name: "order"}, order)
	mrtr.AddTool(srv, mrtr.Tool{Name: "visit"}, visit)
	mrtr.AddTool(srv, mrtr.Tool{Name: "fail"}, func(context.Context, *mrtr.Call, struct{}) (*mrtr.Result, error) {
		return nil, mrtr.Errorf("It cannot be done.")
	})
	mrtr.AddTool(srv, mrtr.Tool{Name: "rude"}, func(context.Context, *mrtr.Call, struct{}) (*mrtr.Result, error) {
		return mrtr.Text("red \x1b[31m and \u202eback"), nil
	})
	keys, err := requeststate.NewStaticKeys([]byte("a secret of thirty-two bytes....."))
	if err != nil {
		panic(err)
	}
	opts := mrtr.HandlerOptions{Keys: keys, Audience: "test", AllowAnonymous: true, Logger: slog.New(slog.DiscardHandler)}
	for _, f := range configure {
		f(&opts)
	}
	h, err := srv.Handler(opts)
	if err != nil {
		panic(err)
	}
	return h
}

type echoInput struct {
	Text  string   `json:"text"`
	Count int      `json:"count,omitempty"`
	Big   float64  `json:"big,omitempty"`
	On    bool     `json:"on,omitempty"`
	List  []string `json:"list,omitempty"`
}

func echo(_ context.Context, _ *mrtr.Call, in echoInput) (*mrtr.Result, error) {
	return mrtr.Textf("%q %d %v %v %q", in.Text, in.Count, in.Big, in.On, in.List), nil
}

// orderForm has a field of each kind.
type orderForm struct {
	Name    string   `json:"name" form:"title=Your name,minLength=2"`
	Mail    *string  `json:"mail" form:"title=Mail,format=email"`
	Count   int      `json:"count" form:"title=How many?,min=1,max=9,default=2"`
	Size    string   `json:"size" form:"title=Size,enum=s|m|l,enumTitles=Small|Medium|Large,default=m"`
	Extras  []string `json:"extras" form:"title=Extras,enum=cheese|olives|basil,maxItems=2"`
	Express bool     `json:"express" form:"title=Express?"`
}

func order(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
	o, err := mrtr.Ask[orderForm](c, "order", "What would you like?")
	if err != nil {
		return nil, err
	}
	mail := "none"
	if o.Mail != nil {
		mail = *o.Mail
	}
	if err := mrtr.Confirm(c, "confirm", fmt.Sprintf("Send %d to %s?", o.Count, o.Name)); err != nil {
		return nil, err
	}
	return mrtr.Textf("%s (%s): %d %s with %s, express %v", o.Name, mail, o.Count, o.Size, strings.Join(o.Extras, "+"), o.Express), nil
}

func visit(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
	if err := mrtr.AskAll(c, mrtr.URL("page", "Sign the form there.", "https://forms.example/1")); err != nil {
		return nil, err
	}
	return mrtr.Text("You went there."), nil
}

// oddServer answers a call in ways that no good server does, one a tool.
func oddServer(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	id := string(body[strings.Index(string(body), `"id":`)+5:])
	id = id[:strings.IndexAny(id, ",}")]
	result := `{"resultType":"complete"}`
	switch {
	case r.Header.Get("Mcp-Method") == "server/discover":
		result = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"public"}`
	case r.Header.Get("Mcp-Method") == "tools/list":
		var tools []string
		for _, name := range []string{"unknown_method", "unknown_type", "task", "restart", "evil"} {
			tools = append(tools, `{"name":"`+name+`","inputSchema":{"type":"object"}}`)
		}
		result = `{"resultType":"complete","tools":[` + strings.Join(tools, ",") + `],"ttlMs":0,"cacheScope":"public"}`
	case r.Header.Get("Mcp-Name") == "unknown_method":
		result = `{"resultType":"input_required","inputRequests":{"q":{"method":"future/ask","params":{}}},"requestState":"s3cret"}`
	case r.Header.Get("Mcp-Name") == "evil":
		result = `{"resultType":"input_required","inputRequests":{"q\u001b[2J":{"method":"elicitation/create","params":{"message":"\u001b]0;pwned\u0007","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}}}`
	case r.Header.Get("Mcp-Name") == "unknown_type":
		result = `{"resultType":"later"}`
	case r.Header.Get("Mcp-Name") == "task":
		result = `{"resultType":"task","taskId":"t-1","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":null}`
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// pagedServer has one tool a page, and as many pages as its path says; 0: they
// never end.
func pagedServer(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Mcp-Method") != "tools/list" {
		oddServer(w, r)
		return
	}
	var m struct {
		ID     jsontext.Value `json:"id"`
		Params struct {
			Cursor string `json:"cursor"`
		} `json:"params"`
	}
	_ = json.UnmarshalRead(r.Body, &m)
	page, _ := strconv.Atoi(m.Params.Cursor)
	next := ""
	if pages, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/")); page+1 != pages {
		next = fmt.Sprintf(`,"nextCursor":"%d"`, page+1)
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"public","tools":[{"name":"t%d","inputSchema":{"type":"object"}}]%s}}`, m.ID, page, next)
}

// silentServer lists its tools in a stream that holds nothing and does not end.
func silentServer(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Mcp-Method") != "tools/list" {
		oddServer(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for beat := time.NewTicker(time.Millisecond); r.Context().Err() == nil; <-beat.C {
		_, _ = io.WriteString(w, ": hello\n\n")
		_ = http.NewResponseController(w).Flush()
	}
}
