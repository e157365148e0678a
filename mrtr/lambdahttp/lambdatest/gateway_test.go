package lambdatest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
)

func TestEvent(t *testing.T) {
	for _, kind := range []lambdatest.Kind{lambdatest.HTTPAPI, lambdatest.REST, lambdatest.FunctionURL} {
		t.Run(string(kind), func(t *testing.T) {
			r := httptest.NewRequest("POST", "/a%20b?x=1&x=%202&y=", strings.NewReader("hello"))
			r.Header.Set("Content-Type", "text/plain")
			r.Header.Add("X-Twice", "1")
			r.Header.Add("X-Twice", "2")
			r.AddCookie(&http.Cookie{Name: "a", Value: "1"})
			r.AddCookie(&http.Cookie{Name: "b", Value: "2"})
			raw, err := lambdatest.Event(kind, r, []byte("hello"))
			require.NoError(t, err)
			var got map[string]any
			require.NoError(t, json.Unmarshal(raw, &got))
			require.Equal(t, "hello", got["body"])
			require.Equal(t, false, got["isBase64Encoded"])
			headers := got["headers"].(map[string]any)
			if kind == lambdatest.REST {
				require.Equal(t, "/a%20b", got["path"])
				require.Equal(t, []any{"1", " 2"}, got["multiValueQueryStringParameters"].(map[string]any)["x"])
				require.Equal(t, []any{"1", "2"}, got["multiValueHeaders"].(map[string]any)["X-Twice"])
				require.Equal(t, "2", headers["X-Twice"])
				require.Equal(t, "a=1; b=2", headers["Cookie"])
				require.NotContains(t, got, "version")
			} else {
				require.Equal(t, map[lambdatest.Kind]string{lambdatest.HTTPAPI: "/a b", lambdatest.FunctionURL: "/a%20b"}[kind], got["rawPath"])
				require.Equal(t, "x=1&x=%202&y=", got["rawQueryString"])
				require.Equal(t, "1,2", headers["x-twice"])
				require.Equal(t, []any{"a=1", "b=2"}, got["cookies"])
				require.NotContains(t, headers, "cookie")
				require.Equal(t, "2.0", got["version"])
			}
			r = httptest.NewRequest("POST", "/", nil)
			raw, err = lambdatest.Event(kind, r, []byte{0xff, 0})
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(raw, &got))
			require.Equal(t, "/wA=", got["body"])
			require.Equal(t, true, got["isBase64Encoded"])
		})
	}
	require.Panics(t, func() { _, _ = lambdatest.Event("alb", httptest.NewRequest("GET", "/", nil), nil) })
}

// TestGateway plays replies, made by a function that knows nothing of HTTP.
func TestGateway(t *testing.T) {
	const nul = "\x00\x00\x00\x00\x00\x00\x00\x00"
	api := start(t, lambdatest.Options{})
	for name, tc := range map[string]struct {
		kind     lambdatest.Kind
		do, text string
		status   int
		header   http.Header
		body     string
	}{
		"v2": {lambdatest.HTTPAPI, "echo", `{"statusCode":201,"headers":{"x-a":"b","Content-Type":"text/plain"},"cookies":["a=1","b=2"],"body":"hi"}`,
			201, http.Header{"X-A": {"b"}, "Set-Cookie": {"a=1", "b=2"}, "Content-Type": {"text/plain"}}, "hi"},
		"v1": {lambdatest.REST, "echo", `{"statusCode":401,"multiValueHeaders":{"X-A":["b","c"],"WWW-Authenticate":["Bearer"]},"body":"aGk=","isBase64Encoded":true}`,
			401, http.Header{"X-A": {"b", "c"}, "X-Amzn-Remapped-Www-Authenticate": {"Bearer"}, "Content-Type": {"application/json"}}, "hi"},
		"not a reply":      {lambdatest.HTTPAPI, "echo", `{"hello":1}`, 500, nil, `{"message":"Internal Server Error"}`},
		"no status":        {lambdatest.FunctionURL, "echo", `{"body":"x"}`, 502, nil, `Internal Server Error`},
		"function error":   {lambdatest.REST, "fail", `oops`, 502, nil, `{"message": "Internal server error"}`},
		"stream":           {lambdatest.FunctionURL, "prelude", `{"statusCode":202,"headers":{"x-a":"b"}}` + nul + "one\x00two", 202, http.Header{"X-A": {"b"}}, "one\x00two"},
		"stream v1":        {lambdatest.REST, "prelude", `{"statusCode":200,"multiValueHeaders":{"x-a":["b","c"]}}` + nul, 200, http.Header{"X-A": {"b", "c"}}, ""},
		"stream, HTTP API": {lambdatest.HTTPAPI, "prelude", `{"statusCode":200}` + nul + "x", 500, nil, `{"message":"Internal Server Error"}`},
		"stream, no head":  {lambdatest.FunctionURL, "prelude", `{}` + nul + "x", 502, nil, `Internal Server Error`},
		"stream, no end":   {lambdatest.FunctionURL, "prelude", `{"statusCode":200}`, 502, nil, `Internal Server Error`},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(api.HTTPHandler(tc.kind))
			defer srv.Close()
			resp, err := http.Post(srv.URL, "application/json", bytes.NewReader(ev(tc.do, tc.text)))
			require.NoError(t, err)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.Equal(t, tc.status, resp.StatusCode)
			require.Equal(t, tc.body, string(body))
			for name, values := range tc.header {
				require.Equal(t, values, resp.Header[name], name)
			}
		})
	}
	require.Panics(t, func() { api.HTTPHandler("alb") })
}

func ExampleAPI_HTTPHandler() {
	serve := func(api *lambdatest.API) error {
		return http.ListenAndServe("127.0.0.1:8080", api.HTTPHandler(lambdatest.HTTPAPI))
	}
	_ = serve
}
