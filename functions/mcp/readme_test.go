package main_test

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// block is a fenced block of the README.
type block struct{ language, text string }

func readme(t *testing.T) (text string, blocks []block) {
	t.Helper()
	b, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$").FindAllStringSubmatch(string(b), -1) {
		blocks = append(blocks, block{m[1], m[2]})
	}
	return string(b), blocks
}

// TestReadmeTranscript sends what the README's curl commands send, and compares
// with the replies that it shows. Its states are cut: a fresh one takes their
// place.
func TestReadmeTranscript(t *testing.T) {
	needContract(t)
	l := startLocal(t, nil, "-addr", "127.0.0.1:0")
	cut := regexp.MustCompile(`"requestState":"[A-Za-z0-9_-]+…"`)
	_, blocks := readme(t)
	sent := 0
	var state string
	for i, b := range blocks {
		if b.language != "sh" || !strings.HasPrefix(b.text, "curl ") {
			continue
		}
		require.Equal(t, "json", blocks[i+1].language, "a command without its reply")
		sent++
		r := curl(t, b.text)
		r.url = strings.Replace(r.url, "http://127.0.0.1:8080/mcp", l.url, 1)
		require.Equal(t, l.url, r.url)
		if cut.MatchString(r.body) {
			require.NotEmpty(t, state, "a state before there is one")
			r.body = cut.ReplaceAllLiteralString(r.body, `"requestState":"`+state+`"`)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url, strings.NewReader(r.body))
		require.NoError(t, err)
		req.Header = r.header
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		got, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode)

		if m := stateMember.FindStringSubmatch(string(got)); m != nil {
			state = m[1]
		}
		mask := func(s string) string { return stateMember.ReplaceAllString(s, `"requestState":"<sealed>"`) }
		require.JSONEq(t, mask(blocks[i+1].text), mask(string(got)))
	}
	require.Equal(t, 2, sent, "the README's call has two rounds")
	l.end(t, os.Interrupt)
}

// request is what a curl command sends.
type request struct {
	url, body string
	header    http.Header
}

// curl reads a command of the few forms that the README uses.
func curl(t *testing.T, command string) request {
	t.Helper()
	r := request{header: http.Header{}}
	var words []string
	for _, m := range regexp.MustCompile(`'([^']*)'|([^\s'\\]+)`).FindAllStringSubmatch(command, -1) {
		words = append(words, m[1]+m[2])
	}
	for i := 1; i < len(words); i++ {
		switch w := words[i]; w {
		case "-s":
		case "-H":
			i++
			name, value, ok := strings.Cut(words[i], ": ")
			require.True(t, ok)
			r.header.Add(name, value)
		case "-d":
			i++
			r.body = words[i]
		default:
			require.Empty(t, r.url, "%q is not expected", w)
			r.url = w
		}
	}
	return r
}

// TestReadmeCode: the Go that the README shows is the endpoint's own. A fork may
// have dropped it.
func TestReadmeCode(t *testing.T) {
	if _, err := os.Stat("tools/refund.go"); errors.Is(err, fs.ErrNotExist) {
		t.Skip("package tools does not have the tool that the README shows")
	}
	var tested []byte
	for _, name := range []string{"tools/refund.go", "tools/refund_test.go"} {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		tested = append(tested, b...)
	}
	_, blocks := readme(t)
	shown := 0
	for _, b := range blocks {
		if b.language == "go" {
			shown++
			for part := range strings.SplitSeq(b.text, "\n\n") {
				require.Contains(t, string(tested), strings.TrimSpace(part))
			}
		}
	}
	require.NotZero(t, shown)
}

// TestReadmeNames: the paths and variables that the README names exist, and
// every variable that is read is named.
func TestReadmeNames(t *testing.T) {
	text, _ := readme(t)
	_, layout, ok := strings.Cut(text, "## Layout")
	require.True(t, ok)
	paths := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(layout, -1)
	require.NotEmpty(t, paths)
	for _, m := range paths {
		_, err := os.Stat(filepath.Join("../..", m[1]))
		require.NoError(t, err)
	}

	variable := regexp.MustCompile(`MRTR_[A-Z_]*[A-Z]`)
	source, err := os.ReadFile("../../mrtr/awslambda/doc.go")
	require.NoError(t, err)
	files, err := filepath.Glob("../../mrtr/awslambda/*.go")
	require.NoError(t, err)
	var read []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "/doc.go") {
			continue
		}
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		read = append(read, variable.FindAllString(string(b), -1)...)
	}
	read = slices.DeleteFunc(read, func(s string) bool { return s == "MRTR_OAUTH" || s == "MRTR_KMS" }) // in front of a star
	require.NotEmpty(t, read)
	require.Subset(t, variable.FindAllString(text, -1), read)
	require.Subset(t, variable.FindAllString(string(source), -1), read)
	require.Subset(t, read, variable.FindAllString(text, -1))
}
