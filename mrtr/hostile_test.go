package mrtr_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

func hostileServer(register func(*mrtr.Server)) *mrtr.Server {
	srv := mrtr.NewServer(protocol.Implementation{Name: "test", Version: "1"}, nil)
	register(srv)
	return srv
}

// A handler in the guard style is held to one set of answers as well.
func TestSingleUseGuardStyle(t *testing.T) {
	var paid []string
	srv := hostileServer(func(s *mrtr.Server) {
		mrtr.AddTool(s, mrtr.Tool{Name: "pay"}, func(ctx context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
			who, ok := c.InputResponse("who")
			if !ok {
				return nil, c.RequestInput(protocol.InputRequests{{Key: "who", Method: protocol.MethodListRoots}}, nil)
			}
			if err := c.SingleUse(ctx); err != nil {
				return nil, err
			}
			paid = append(paid, string(who))
			return mrtr.Text("paid"), nil
		})
	})
	endpoint := mrtrtest.Local(srv, func(o *mrtr.HandlerOptions) { o.SingleUse = new(mrtr.MemoryStore) })
	first := mrtrtest.Play(t, endpoint, mrtrtest.Call{Name: "pay", Answers: mrtrtest.Answers{"who": mrtrtest.Raw(`{"roots":[{"uri":"file:///a"}]}`)}, Drop: func(n int) bool { return n == 2 }})
	require.False(t, first.Result.IsError, first.Text())
	require.Len(t, paid, 2, "an honest retry passes")
	fork := mrtrtest.Play(t, endpoint, mrtrtest.Call{Name: "pay", Answers: mrtrtest.Answers{"who": mrtrtest.Raw(`{"roots":[{"uri":"file:///b"}]}`)}, Edit: func(n int, r *mrtrtest.Request) {
		if n == 2 {
			r.Params["requestState"] = first.Rounds[0].State
		}
	}})
	require.True(t, fork.Result.IsError)
	require.Len(t, paid, 2)
}

// A question that becomes optional after a decline does not pass the group's
// unanswered confirmation.
func TestOptionalLater(t *testing.T) {
	var paid atomic.Int32
	srv := hostileServer(func(s *mrtr.Server) {
		mrtr.AddTool(s, mrtr.Tool{Name: "pay"}, func(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
			var tip, note struct {
				Text string `json:"text"`
			}
			var tipped bool
			q := mrtr.Form("tip", "A tip?", &tip)
			if c.Capabilities().SupportsRoots() {
				q = mrtr.Optional(q, &tipped)
			}
			err := mrtr.AskAll(c, q, mrtr.Confirmation("pay", "Pay?"))
			if no := (*mrtr.OutcomeError)(nil); errors.As(err, &no) {
				err = mrtr.AskAll(c, mrtr.Form("note", "Why not?", &note)) // ends the round with the decline in the log
			}
			if err != nil {
				return nil, err
			}
			if c.Capabilities().SupportsRoots() {
				paid.Add(1)
			}
			return mrtr.Text("done"), nil
		})
	})
	forms := protocol.ClientCapabilities{Elicitation: &protocol.ElicitationCapability{}}
	played := mrtrtest.Play(t, mrtrtest.Local(srv), mrtrtest.Call{
		Name: "pay", Capabilities: &forms, NoReplay: true,
		Answers: mrtrtest.Answers{"tip": mrtrtest.Decline, "pay": nil, "note": map[string]any{"text": "x"}},
		Edit: func(n int, r *mrtrtest.Request) {
			if n == 3 {
				r.Params["_meta"].(map[string]any)[protocol.MetaClientCapabilities] = map[string]any{"elicitation": map[string]any{}, "roots": map[string]any{}}
			}
		},
	})
	require.NotNil(t, played.Error, "the flow diverged")
	require.JSONEq(t, `{"restart":true}`, string(played.Error.Data))
	require.Zero(t, paid.Load())
}

// What was made from answers is for nobody to keep, also where the last retry
// had a state alone.
func TestAnsweredResourceIsNotCached(t *testing.T) {
	k := newKit(t, func(s *mrtr.Server) {
		mrtr.AddResource(s, mrtr.Resource{URI: "x:secret", Name: "secret", Cache: mrtr.Cache{TTL: time.Hour, Shared: true}},
			func(ctx context.Context, c *mrtr.Call) ([]protocol.ResourceContents, error) {
				who, err := mrtr.Ask[struct {
					Name string `json:"name"`
				}](c, "who", "Who?")
				if err != nil {
					return nil, err
				}
				if _, err := mrtr.Step(ctx, c, "work", func(context.Context) (int, error) { return 1, nil }); err != nil {
					return nil, err
				}
				if err := c.Yield(); err != nil {
					return nil, err
				}
				return []protocol.ResourceContents{{URI: "x:secret", Text: "of " + who.Name}}, nil
			})
	}, nil)
	played := mrtrtest.Play(t, mrtrtest.Handler(k.handler), mrtrtest.Call{Method: protocol.MethodReadResource, Name: "x:secret", Answers: mrtrtest.Answers{"who": map[string]any{"name": "Alice"}}})
	last := string(played.Last().Response)
	require.NotContains(t, string(played.Last().Request), "inputResponses", "the last round is a retry without answers")
	require.Contains(t, last, "of Alice")
	require.Contains(t, last, `"ttlMs":0,"cacheScope":"private"`)
}

func TestHeadersThatLie(t *testing.T) {
	k := newKit(t, func(s *mrtr.Server) { tool(s, "greet", greet) }, nil)
	old := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{}}}`
	for _, tt := range []struct {
		name   string
		header http.Header
		status int
	}{
		{"two versions", http.Header{"Mcp-Protocol-Version": {"2025-11-25", "2026-07-28"}}, 400},
		{"another method", http.Header{"Mcp-Protocol-Version": {"2025-11-25"}, "Mcp-Method": {"tools/list"}}, 400},
		{"another name", http.Header{"Mcp-Protocol-Version": {"2025-11-25"}, "Mcp-Name": {"other"}}, 400},
		{"no version, another name", http.Header{"Mcp-Name": {"other"}}, 400},
		{"the truth", http.Header{"Mcp-Protocol-Version": {"2025-11-25"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"=?base64?Z3JlZXQ=?="}}, 200},
		{"nothing", http.Header{}, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(old))
			r.Header = tt.header.Clone()
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			k.handler.ServeHTTP(w, r)
			require.Equal(t, tt.status, w.Code, w.Body.String())
			if tt.status == 400 {
				require.Contains(t, w.Body.String(), "-32020")
			}
		})
	}
}

func TestHandshakeOfAnyVersion(t *testing.T) {
	k := newKit(t, func(s *mrtr.Server) { tool(s, "greet", greet) }, nil)
	for _, version := range []string{"2025-03-26", "2024-11-05", "1999-01-01"} {
		res := k.do(request{body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{}}}`,
			header: map[string]string{"MCP-Protocol-Version": version, "Mcp-Method": "initialize"}})
		require.Equal(t, http.StatusOK, res.status)
		require.Contains(t, res.body, `"protocolVersion":"2025-11-25"`)
	}
}

// Work that a header or a URI makes is bounded, whatever else is on the machine:
// counted by what is allocated.
func TestBoundedWork(t *testing.T) {
	k := newKit(t, func(s *mrtr.Server) {
		for _, tmpl := range []string{"a:{x}", "r://{owner}/{name}", "s://search{?q,page}", "h:{x,y,z}", "p:{+all}"} {
			mrtr.AddResourceTemplate(s, mrtr.ResourceTemplate{URITemplate: tmpl, Name: tmpl}, func(context.Context, *mrtr.Call, string, map[string]string) ([]protocol.ResourceContents, error) {
				return []protocol.ResourceContents{{URI: "x"}}, nil
			})
		}
	}, func(o *mrtr.HandlerOptions) { o.AllowedOrigins = []string{"https://app.example"} })
	bytesOf := func(f func()) int64 {
		var before, after runtime.MemStats
		f() // what is made once
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return int64(after.TotalAlloc - before.TotalAlloc)
	}
	const few = 4 << 20
	for _, uri := range []string{"a:" + strings.Repeat(",", 2045), "r://" + strings.Repeat("a,", 500) + "/b", "h:" + strings.Repeat(",", 60), "p:" + strings.Repeat("/", 2000), "a:" + strings.Repeat("%2c", 600)} {
		require.Less(t, bytesOf(func() { k.do(request{method: "resources/read", params: `"uri":"` + uri + `"`, name: uri}) }), int64(few), uri[:8])
	}
	names := strings.Repeat("mcp-param-a,", 80_000)
	require.Less(t, bytesOf(func() {
		r := httptest.NewRequest(http.MethodOptions, "/mcp", nil)
		r.Header.Set("Access-Control-Request-Headers", names)
		w := httptest.NewRecorder()
		k.handler.ServeHTTP(w, r)
		require.Less(t, len(w.Header().Get("Access-Control-Allow-Headers")), 2000)
	}), int64(few))
}

//go:noinline
func crash(pin int64, m map[string]int) { m["x"] = int(pin) }

// The log shows where a handler panicked and what could not be encoded, and
// nothing that it had in hand.
func TestPanicsAndEncodingHoldNoValues(t *testing.T) {
	type in struct {
		PIN int64 `json:"pin"`
	}
	k := newKit(t, func(s *mrtr.Server) {
		mrtr.AddTool(s, mrtr.Tool{Name: "crash"}, func(_ context.Context, _ *mrtr.Call, in in) (*mrtr.Result, error) {
			crash(in.PIN, nil)
			return nil, nil
		})
		mrtr.AddTool(s, mrtr.Tool{Name: "bounds"}, func(_ context.Context, _ *mrtr.Call, in in) (*mrtr.Result, error) {
			return mrtr.Text(string([]byte{1, 2}[in.PIN])), nil
		})
		mrtr.AddTool(s, mrtr.Tool{Name: "encode"}, func(context.Context, *mrtr.Call, in) (*mrtr.Result, error) {
			return mrtr.JSON(map[string]any{"S3CRET": func() {}})
		})
		mrtr.AddTool(s, mrtr.Tool{Name: "step"}, func(ctx context.Context, c *mrtr.Call, _ in) (*mrtr.Result, error) {
			_, err := mrtr.Step(ctx, c, "work", func(context.Context) (map[string]any, error) { return map[string]any{"S3CRET": func() {}}, nil })
			return nil, err
		})
	}, nil)
	for _, name := range []string{"crash", "bounds", "encode", "step"} {
		k.do(request{name: name, params: `"arguments":{"pin":3735928559}`})
	}
	log := k.log()
	require.Contains(t, log, "mrtr_test.crash (hostile_test.go:")
	require.Contains(t, log, "index out of range")
	require.Contains(t, log, "it holds a func()")
	for _, secret := range []string{"deadbeef", "3735928559", "S3CRET"} {
		require.NotContains(t, log, secret)
	}
}

// A completer that does not return keeps nobody waiting past the deadline.
func TestCompleterInTime(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	k := newKit(t, func(s *mrtr.Server) {
		mrtr.AddPrompt(s, mrtr.Prompt{Name: "p", Arguments: []protocol.PromptArgument{{Name: "x"}}, Complete: map[string]mrtr.Completer{
			"x": func(context.Context, string, map[string]string) ([]string, error) { <-release; return nil, nil },
		}}, func(context.Context, *mrtr.Call, map[string]string) (*protocol.GetPromptResult, error) {
			return nil, nil
		})
	}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	res := k.do(request{ctx: ctx, method: "completion/complete", params: `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"x","value":"y"}`})
	require.Equal(t, http.StatusOK, res.status)
	require.Contains(t, res.body, "-32603")
}

func TestParamHeaderNumbers(t *testing.T) {
	k := newKit(t, func(s *mrtr.Server) {
		mrtr.AddTool(s, mrtr.Tool{Name: "n", InputSchema: []byte(`{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}`)},
			func(context.Context, *mrtr.Call, struct{}) (*mrtr.Result, error) { return mrtr.Text("ok"), nil })
	}, nil)
	for _, tt := range []struct {
		header, value string
		same          bool
	}{
		{"42", "42", true}, {"42.0", "42", true}, {"4.2e1", "42", true}, {"42", "42.0", true}, {"-7", "-7", true}, {"0", "-0", true},
		{"9007199254740991", "9007199254740991", true},
		{"9007199254740992", "9007199254740992", false},
		{"9007199254740991.4", "9007199254740991", false},
		{"0.99999999999999999999", "1", false},
		{"1e-999", "0", false}, {"1e999999999", "1", false}, {"0x2a", "42", false}, {"4/2", "2", false}, {"", "0", false}, {" 42", "42", false},
	} {
		res := k.do(request{name: "n", params: `"arguments":{"n":` + tt.value + `}`, header: map[string]string{"Mcp-Param-N": tt.header}})
		require.Equal(t, tt.same, res.status == http.StatusOK, "%s for %s: %s", tt.header, tt.value, res.body)
	}
}

func TestOriginsThatLookLocal(t *testing.T) {
	k := newKit(t, func(s *mrtr.Server) { tool(s, "greet", greet) }, func(o *mrtr.HandlerOptions) { o.AllowLoopbackOrigins = true })
	for origin, ok := range map[string]bool{
		"http://localhost:3000": true, "https://127.0.0.1": true, "http://[::1]:8080": true,
		"http://evil.example@localhost": false, "http://localhost#@evil.example": false, "http://localhost?evil.example": false,
		"http://localhost/": false, "http://localhost.evil.example": false, "http://127.0.0.1.evil.example": false, "null": false, "file://localhost": false,
	} {
		r := request{name: "greet", header: map[string]string{"Origin": origin}}.build()
		r.Host = "127.0.0.1:8080"
		require.Equal(t, ok, serve(t, k.handler, r).status == http.StatusOK, origin)
	}
}

// smallWriter is a transport that buffers and can carry little.
type smallWriter struct {
	*httptest.ResponseRecorder
	max int
}

func (w smallWriter) ReplyFits(body []byte) bool { return w.Body.Len()+len(body) <= w.max }

// A server that may stream is held to what a transport that buffers can carry.
func TestWriterThatBuffers(t *testing.T) {
	k := newKit(t, func(s *mrtr.Server) {
		tool(s, "large", func(context.Context, *mrtr.Call) (*mrtr.Result, error) {
			return mrtr.Text(strings.Repeat("x", 3<<20)), nil
		})
		tool(s, "chatty", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
			for i := range 5000 {
				c.Progress(float64(i+1), 0, strings.Repeat("x", 1000))
			}
			return mrtr.Text("done"), nil
		})
	}, nil)
	for name, want := range map[string]string{"large": "-32603", "chatty": `"text":"done"`} {
		w := smallWriter{httptest.NewRecorder(), 2 << 20}
		hr := request{name: name, body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `",` +
			strings.Replace(metaWith(`{}`), `"_meta":{`, `"_meta":{"progressToken":1,`, 1) + `}}`}.build()
		k.handler.ServeHTTP(w, hr)
		require.Contains(t, w.Body.String(), want, name)
		require.Less(t, w.Body.Len(), 2<<20, name)
	}
}
