package tools_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocs: the Go that docs/writing-tools.md shows is code that is tested here
// or among the examples of package mrtr.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/writing-tools.md")
	require.NoError(t, err)
	var source strings.Builder
	for _, pattern := range []string{"*.go", "../../../mrtr/example_*_test.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			source.Write(b)
		}
	}
	fence := regexp.MustCompile("(?ms)^```go\n(.*?)^```$")
	blocks := fence.FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, blocks)
	for _, b := range blocks {
		require.Contains(t, source.String(), b[1])
	}
	for _, link := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(fence.ReplaceAllString(string(page), ""), -1) {
		_, err := os.Stat(filepath.Join("../../../docs", link[1]))
		require.NoError(t, err)
	}
}
