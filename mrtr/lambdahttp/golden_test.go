package lambdahttp_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// goldenFiles returns the golden conversations by path.
func goldenFiles(t testing.TB) map[string]*txtar.Archive {
	t.Helper()
	paths, err := filepath.Glob("testdata/golden/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	files := make(map[string]*txtar.Archive)
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		require.NoError(t, err)
		require.Len(t, a.Files, 3, path)
		files[path] = a
	}
	return files
}

// TestGolden compares, for each event, the request that the handler gets and
// the reply that is sent.
func TestGolden(t *testing.T) {
	for path, a := range goldenFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			var dump bytes.Buffer
			h := lambdahttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				dumpRequest(t, &dump, r)
				answerByPath(w, r)
			}), lambdahttp.Options{Logger: quiet})
			reply, err := h.Invoke(t.Context(), a.Files[0].Data)
			require.NoError(t, err)
			reply = append(reply, '\n')
			if *update {
				a.Files[1].Data, a.Files[2].Data = dump.Bytes(), reply
				require.NoError(t, os.WriteFile(path, txtar.Format(a), 0o644))
				return
			}
			require.Equal(t, string(a.Files[1].Data), dump.String())
			require.Equal(t, string(a.Files[2].Data), string(reply))
		})
	}
}

// TestGoldenStream plays the same events in stream mode: the same status,
// headers and body, in the form that the event's gateway takes.
func TestGoldenStream(t *testing.T) {
	for path, a := range goldenFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			h := http.HandlerFunc(answerByPath)
			whole, err := lambdahttp.Handler(h, lambdahttp.Options{Logger: quiet}).Invoke(t.Context(), a.Files[0].Data)
			require.NoError(t, err)
			stream, err := lambda.NewHandler(lambdahttp.StreamHandler(h, lambdahttp.Options{Logger: quiet})).Invoke(t.Context(), a.Files[0].Data)
			require.NoError(t, err)
			served := len(a.Files[1].Data) > 0
			if !served || strings.Contains(string(a.Files[1].Data), "\nkind: http-api\n") {
				require.Equal(t, string(whole), string(stream))
				return
			}
			require.Equal(t, parseReply(t, whole), parseReply(t, stream))
		})
	}
}

// answerByPath replies what the last element of the path asks for.
func answerByPath(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	switch filepath.Base(r.URL.Path) {
	case "cookies":
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "1"})
		http.SetCookie(w, &http.Cookie{Name: "b", Value: "2"})
		h.Set("Content-Type", "text/plain")
	case "204":
		h.Set("Allow", "POST")
		w.WriteHeader(http.StatusNoContent)
		if _, err := w.Write([]byte("x")); err != http.ErrBodyNotAllowed {
			panic("a 204 took a body")
		}
	case "binary":
		h.Set("Content-Type", "image/png")
		_, _ = w.Write([]byte{0x89, 'P', 'N', 'G', 0, 0xff})
	case "gzip":
		h.Set("Content-Type", "text/plain")
		h.Set("Content-Encoding", "gzip")
		_, _ = w.Write([]byte("as if compressed"))
	case "html":
		_, _ = io.WriteString(w, "<!DOCTYPE html><p>hi")
	case "headers":
		h.Set("Content-Type", "text/plain")
		h.Add("Vary", "Origin")
		h.Add("Vary", "Accept")
		h["x-lower"] = []string{"kept"}
		h["X-None"] = nil
		h["Bad Name"] = []string{"dropped"}
		h.Set("X-Split", "a\r\nX-Injected: b")
		h.Set("X-Latin1", "caf\xe9")
		h.Set("Content-Length", "999")
		h.Set("Connection", "close")
		h.Set("Transfer-Encoding", "chunked")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusTeapot)
		w.WriteHeader(http.StatusOK)
		h.Set("X-Late", "dropped")
		_, _ = io.WriteString(w, "I'm a teapot \u2028 \x00 \x7f")
	case "silent":
	default:
		h.Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"ok":"é \" \\"}`)
	}
}

// dumpRequest writes all of a request that the adapter decides.
func dumpRequest(t *testing.T, b *bytes.Buffer, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	require.EqualValues(t, len(body), r.ContentLength)
	fmt.Fprintf(b, "%s %s %s\n", r.Method, r.RequestURI, r.Proto)
	fmt.Fprintf(b, "path: %q escaped: %s query: %s\n", r.URL.Path, r.URL.EscapedPath(), r.URL.RawQuery)
	fmt.Fprintf(b, "host: %s remote: %s\n", r.Host, r.RemoteAddr)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		fmt.Fprintf(b, "header %s: %q\n", name, r.Header[name])
	}
	fmt.Fprintf(b, "body: %q\n", body)
	inv, ok := lambdahttp.RequestContext(r.Context())
	require.True(t, ok)
	fmt.Fprintf(b, "kind: %s\n", inv.Kind)
	fmt.Fprintf(b, "id: %s account: %s stage: %s domain: %s ip: %s\n", inv.RequestID, inv.AccountID, inv.Stage, inv.DomainName, inv.SourceIP)
	if inv.Authorizer != nil {
		require.NoError(t, inv.Authorizer.Compact())
		fmt.Fprintf(b, "authorizer: %s\n", inv.Authorizer)
	}
	if inv.Identity != nil {
		require.NoError(t, inv.Identity.Compact())
		fmt.Fprintf(b, "identity: %s\n", inv.Identity)
	}
}
