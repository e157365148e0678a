package client

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

func TestRecorder(t *testing.T) {
	const reply = `{"jsonrpc":"2.0","id":7,"result":{"a":1}}`
	const note = `{"jsonrpc":"2.0","method":"m"}`
	for _, tt := range []struct {
		name, body string
		events     bool
		want       string // the result; empty: none
		broken     bool
	}{
		{"json", reply, false, `{"a":1}`, false},
		{"another id", strings.Replace(reply, "7", "8", 1), false, "", false},
		{"id of another type", strings.Replace(reply, "7", `"7"`, 1), false, "", false},
		{"no json", "nope", false, "", true},
		{"nothing", "", false, "", false},
		{"too large", strings.Replace(reply, "1}", strings.Repeat("1", 500)+"}", 1), false, "", true},

		{"event", "data: " + reply + "\n\n", true, `{"a":1}`, false},
		{"event with returns", "event: message\r\ndata: " + reply + "\r\n\r\n", true, `{"a":1}`, false},
		{"event without space", "data:" + reply + "\n\n", true, `{"a":1}`, false},
		{"event at the end", "data: " + reply, true, `{"a":1}`, false},
		{"event in lines", "data: " + strings.Replace(reply, ",", ",\ndata: ", 2) + "\n\n", true, `{"a":1}`, false},
		{"event after others", "id: 1\ndata:\n\n: hello\n\ndata: " + note + "\n\ndata: " + reply + "\n\n", true, `{"a":1}`, false},
		{"the first counts", "data: " + reply + "\n\ndata: " + strings.Replace(reply, "1}", "2}", 1) + "\n\n", true, `{"a":1}`, false},
		{"a broken event before", "data: nope\n\ndata: " + reply + "\n\n", true, `{"a":1}`, true},
		{"an endless line", "data: " + strings.Repeat("x", 500), true, "", true},
		{"an endless event", strings.Repeat("data: x\n", 500), true, "", true},
		{"a long stream of events", strings.Repeat("data: "+note+"\n\n", 500) + "data: " + reply + "\n\n", true, `{"a":1}`, false},
	} {
		for _, slow := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				x := &exchange{method: "m", id: jsontext.Value("7")}
				var body io.Reader = strings.NewReader(tt.body)
				if slow {
					body = iotest.OneByteReader(body)
				}
				r := &recorder{ReadCloser: io.NopCloser(body), exchange: x, events: tt.events, limit: 200}
				seen, err := io.ReadAll(r)
				if len(tt.body) > 200 && !strings.Contains(tt.name, "stream") {
					require.ErrorIs(t, err, errTooLarge)
					require.Less(t, len(seen), len(tt.body), "it is read no further")
					n, err := r.Read(make([]byte, 1))
					require.Zero(t, n)
					require.ErrorIs(t, err, errTooLarge)
				} else {
					require.NoError(t, err)
					require.Equal(t, tt.body, string(seen), "what is read is not changed")
				}
				require.Equal(t, tt.want, string(x.result))
				require.Equal(t, tt.broken, x.broken)
			})
		}
	}
}

// TestEveryResponseIsBounded holds that the limit is that of all responses, those
// that no call waits for too.
func TestEveryResponseIsBounded(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		for _, media := range []string{"application/json", "text/event-stream"} {
			rt := &roundTripper{tap: new(tap), base: always{media, io.MultiReader(strings.NewReader("data: "), endless{})}}
			r, err := http.NewRequestWithContext(t.Context(), method, "http://a.example/", nil)
			require.NoError(t, err)
			resp, err := rt.RoundTrip(r)
			require.NoError(t, err)
			n, err := io.Copy(io.Discard, resp.Body)
			require.ErrorIs(t, err, errTooLarge, "%s %s", method, media)
			require.LessOrEqual(t, n, int64(maxMessage))
			require.NoError(t, resp.Body.Close())
		}
	}
}

// always is a server with one answer. Its body ends far beyond the limit.
type always struct {
	media string
	body  io.Reader
}

func (a always) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {a.media}},
		Body: io.NopCloser(io.LimitReader(a.body, 2*maxMessage)),
	}, nil
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
