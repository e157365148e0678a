package mrtrlambda_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pages returns the Markdown files of the project, by their path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "bin"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".md") && !d.IsDir():
			text, err := os.ReadFile(path)
			out[path] = string(text)
			return err
		}
		return nil
	}))
	require.Contains(t, out, "README.md")
	require.Contains(t, out, filepath.Join("docs", "deploy.md"))
	return out
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// captures returns the first groups of all matches, sorted, each once.
func captures(pattern, text string) []string {
	var out []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var (
	fenced   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	linkText = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

// anchors returns what links may name within a page.
func anchors(page string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		kept := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 0x7f:
				return r
			}
			return -1
		}, strings.ToLower(m[1]))
		out = append(out, kept)
	}
	return out
}

// TestLinks follows the links of all pages within the project.
func TestLinks(t *testing.T) {
	all := pages(t)
	found := 0
	for path, page := range all {
		for _, m := range linkText.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			found++
			file, anchor, _ := strings.Cut(m[1], "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
				_, err := os.Stat(target)
				require.NoError(t, err, "%s: %s", path, m[1])
			}
			if anchor != "" {
				require.Contains(t, anchors(all[target]), anchor, "%s: %s", path, m[1])
			}
		}
	}
	require.Greater(t, found, 20)
}

// TestVariables: a variable that a page names is read somewhere.
func TestVariables(t *testing.T) {
	const pattern = `\b(MRTR_[A-Z_]*[A-Z])\b`
	var code strings.Builder
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != "." && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			text, err := os.ReadFile(path)
			code.Write(text)
			return err
		}
		return err
	}))
	known := captures(`"(MRTR_[A-Z_]*[A-Z])"`, code.String())
	require.Greater(t, len(known), 15)
	prefixes := []string{"MRTR_OAUTH", "MRTR_KMS"} // families of settings
	for path, page := range pages(t) {
		for _, name := range captures(pattern, page) {
			require.True(t, slices.Contains(known, name) || slices.Contains(prefixes, name), "%s: %s is read nowhere", path, name)
		}
	}
}

// TestTargets: what a page has make do, make can.
func TestTargets(t *testing.T) {
	targets := captures(`(?m)^([a-z0-9-]+):(?:[^=]|$)`, read(t, "Makefile"))
	require.Contains(t, targets, "smoke")
	found := 0
	for path, page := range pages(t) {
		commands := strings.Join(captures("(?ms)^ *```sh\n(.*?)^ *```$", page), "")
		names := append(captures("`make ([a-z][a-z0-9-]*)", page), captures(`(?m)^ *make ([a-z][a-z0-9-]*)`, commands)...)
		for _, name := range names {
			found++
			require.Contains(t, targets, name, "%s: make %s", path, name)
		}
	}
	require.Greater(t, found, 10)
}

// TestParameters: docs/deploy.md lists the parameters of the template, with the
// defaults that they have.
func TestParameters(t *testing.T) {
	template := read(t, "template.yaml")
	section := regexp.MustCompile(`(?ms)^Parameters:\n(.*?)^\S`).FindStringSubmatch(template)
	require.NotNil(t, section)
	defaults := map[string]string{}
	name := ""
	for line := range strings.SplitSeq(section[1], "\n") {
		if m := regexp.MustCompile(`^  ([A-Z]\w+):$`).FindStringSubmatch(line); m != nil {
			name = m[1]
			defaults[name] = "none" // to be said
		}
		if m := regexp.MustCompile(`^    Default: "?(.*?)"?$`).FindStringSubmatch(line); m != nil {
			defaults[name] = m[1]
		}
	}
	require.Greater(t, len(defaults), 20)

	_, page, ok := strings.Cut(read(t, "docs/deploy.md"), "\n## Parameters\n")
	require.True(t, ok)
	page, _, _ = strings.Cut(page, "\n## ")
	table := regexp.MustCompile("(?m)^\\| `([A-Z]\\w+)` \\| ([^|]+) \\|[^|]+\\|$").FindAllStringSubmatch(page, -1)
	for _, row := range table {
		want, ok := defaults[row[1]]
		require.True(t, ok, "%s is no parameter", row[1])
		if want == "" {
			want = "empty"
		}
		said := strings.Trim(regexp.MustCompile("^(?:`[^`]*`|\\w+)").FindString(row[2]), "`")
		require.Equal(t, want, said, row[1])
		delete(defaults, row[1])
	}
	require.Empty(t, defaults, "not in docs/deploy.md")
}

// TestAlarms: docs/operations.md says of every alarm what it means.
func TestAlarms(t *testing.T) {
	page := read(t, "docs/operations.md")
	found := 0
	for _, file := range []string{"template.yaml", "infra/observability.yaml"} {
		for _, name := range captures(`(?m)^  (\w+):\n    Type: AWS::CloudWatch::Alarm$`, read(t, file)) {
			found++
			require.Contains(t, page, "\n| `"+name+"` |", "%s of %s", name, file)
		}
	}
	require.Greater(t, found, 5)
	for _, name := range captures("(?m)^\\| `(\\w+)` \\| \\d", page) {
		require.Regexp(t, `(?m)^  `+name+`:\n    Type: AWS::CloudWatch::Alarm$`, read(t, "template.yaml")+read(t, "infra/observability.yaml"), "no such alarm")
	}
}

// TestReasons: docs/operations.md has every reason for which a state is refused.
func TestReasons(t *testing.T) {
	page := read(t, "docs/operations.md")
	reasons := captures(`Reason = "([a-z_]+)"`, read(t, "mrtr/requeststate/refused.go"))
	require.Greater(t, len(reasons), 15)
	for _, reason := range reasons {
		require.Contains(t, page, "`"+reason+"`")
	}
}

// TestOutputs: what docs call an output of the stack is one.
func TestOutputs(t *testing.T) {
	_, outputs, ok := strings.Cut(read(t, "template.yaml"), "\nOutputs:\n")
	require.True(t, ok)
	known := captures(`(?m)^  (\w+):$`, outputs)
	rows := captures("(?m)^\\| (`\\w+`(?:, `\\w+`)*) \\| [^|]+ \\|$", read(t, "docs/deploy.md"))
	var named []string
	for _, row := range rows {
		named = append(named, captures("`(\\w+)`", row)...)
	}
	for _, name := range known {
		require.Contains(t, named, name, "docs/deploy.md does not list the output")
	}
}

// TestShell: the shell commands of the pages can be read by a shell.
func TestShell(t *testing.T) {
	found := 0
	for path, page := range pages(t) {
		for _, block := range captures("(?ms)^ *```sh\n(.*?)^ *```$", page) {
			found++
			out, err := exec.CommandContext(t.Context(), "sh", "-n", "-c", block).CombinedOutput()
			require.NoError(t, err, "%s: %s\n%s", path, out, block)
		}
	}
	require.Greater(t, found, 5)
}
