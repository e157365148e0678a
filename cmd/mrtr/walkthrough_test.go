package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/cmd/mrtr/internal/walkthrough"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

const pagePath = "../../docs/WALKTHROUGH.md"

// TestWalkthroughPage makes the page anew. With -update it is written.
func TestWalkthroughPage(t *testing.T) {
	process := func() *exec.Cmd {
		cmd := exec.Command("mrtr", processCommand)
		cmd.Env = append(os.Environ(), raceOptions)
		return cmd
	}
	page, err := walkthrough.Page(context.Background(), walkthrough.Options{Process: process})
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(pagePath, []byte(page), 0o644))
	}
	want, err := os.ReadFile(pagePath)
	require.NoError(t, err)
	require.Equal(t, string(want), page, "mrtr demo --doc md writes it")
}

// section is a part of the page under a heading; a block is fenced.
type section struct {
	title  string
	blocks []struct{ language, text string }
}

func readPage(t *testing.T) []section {
	t.Helper()
	page, err := os.ReadFile(pagePath)
	require.NoError(t, err)
	var sections []section
	for _, part := range strings.Split(string(page), "\n## ")[1:] {
		title, text, _ := strings.Cut(part, "\n")
		s := section{title: title}
		for _, m := range regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)\n```$").FindAllStringSubmatch(text, -1) {
			s.blocks = append(s.blocks, struct{ language, text string }{m[1], m[2]})
		}
		sections = append(sections, s)
	}
	require.Len(t, sections, len(walkthrough.Steps()))
	return sections
}

// TestWalkthroughCommands runs every command of the page in a shell, against a
// fresh endpoint, and compares what it prints with what the page shows: by curl,
// where there is one, and by a program that takes the same arguments.
func TestWalkthroughCommands(t *testing.T) {
	for _, name := range []string{"stand-in", "curl"} {
		t.Run(name, func(t *testing.T) {
			path := os.Getenv("PATH")
			if name == "curl" {
				own, rest, _ := strings.Cut(path, string(filepath.ListSeparator))
				if path = rest; lookIn(rest, "curl") == "" {
					t.Skip("there is no curl")
				}
				// mrtr is in the folder that was cut off.
				bin := t.TempDir()
				require.NoError(t, os.Symlink(filepath.Join(own, "mrtr"), filepath.Join(bin, "mrtr")))
				path = bin + string(filepath.ListSeparator) + rest
			}
			runPage(t, path)
		})
	}
}

func lookIn(path, name string) string {
	for _, dir := range filepath.SplitList(path) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
			return filepath.Join(dir, name)
		}
	}
	return ""
}

func runPage(t *testing.T, path string) {
	var ahead atomic.Int64
	keys, err := requeststate.NewStaticKeys([]byte(strings.Repeat("p", requeststate.MinSecretSize)))
	require.NoError(t, err)
	h, err := walkthrough.NewServer().Handler(mrtr.HandlerOptions{
		Keys: keys, Audience: "page", Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
	})
	require.NoError(t, err)
	srv := httptest.NewServer(h)
	defer srv.Close()
	dir := t.TempDir()
	commands := 0
	for _, s := range readPage(t) {
		inSection := 0
		for i, b := range s.blocks {
			if b.language != "sh" {
				continue
			}
			inSection++
			commands++
			if s.title == "8. An expired state" && inSection == 2 {
				ahead.Add(int64(10*time.Minute + time.Second))
			}
			require.Less(t, i+1, len(s.blocks), "a command without what it prints")
			require.Contains(t, b.text, "http://127.0.0.1:8080/mcp")
			script := "state=$(cat state 2>/dev/null || :)\n" +
				strings.ReplaceAll(b.text, "http://127.0.0.1:8080/mcp", srv.URL+"/mcp") +
				"\nprintf %s \"$state\" > state\n"
			cmd := exec.Command("sh", "-e", "-c", script)
			cmd.Dir = dir
			cmd.Env = []string{"PATH=" + path, "HOME=" + dir, raceOptions}
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s: %s\n%s", s.title, b.text, out)
			switch want := s.blocks[i+1]; want.language {
			case "json":
				require.JSONEq(t, want.text, masked(string(out)), s.title)
			default:
				require.Equal(t, want.text+"\n", string(out), s.title)
			}
		}
		require.NotZero(t, inSection, "%s has no command", s.title)
	}
	require.Greater(t, commands, len(walkthrough.Steps()))
}

// masked puts the page's spelling in the place of a state.
func masked(reply string) string {
	return regexp.MustCompile(`"requestState":"([^"]*)"`).ReplaceAllStringFunc(reply, func(m string) string {
		return fmt.Sprintf(`"requestState":"… (%d characters)"`, len(m)-len(`"requestState":""`))
	})
}

// curl is a curl that knows what the page uses.
func curl() {
	header := http.Header{}
	args := os.Args[1:]
	next := func() string {
		v := args[0]
		args = args[1:]
		return v
	}
	var url, body string
	for len(args) > 0 {
		switch a := next(); a {
		case "-s":
		case "-H":
			name, value, _ := strings.Cut(next(), ": ")
			header.Set(name, value)
		case "-d":
			body = next()
		default:
			url = a
		}
	}
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header = header
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		panic(err)
	}
	_, err = io.Copy(os.Stdout, resp.Body)
	if err != nil {
		panic(err)
	}
}
