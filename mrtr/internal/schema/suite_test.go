package schema

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// TestSuite runs the official JSON Schema test suite for 2020-12, which comes
// with the JSON Schema library in the module cache.
func TestSuite(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").Output()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "jsonschema/testdata/draft2020-12/*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	ran, refused := 0, 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var groups []struct {
			Description string         `json:"description"`
			Schema      jsontext.Value `json:"schema"`
			Tests       []struct {
				Description string         `json:"description"`
				Data        jsontext.Value `json:"data"`
				Valid       bool           `json:"valid"`
			} `json:"tests"`
		}
		require.NoError(t, json.Unmarshal(data, &groups))
		for _, g := range groups {
			raw := []byte(g.Schema)
			if k := g.Schema.Kind(); k == 't' || k == 'f' {
				raw = []byte(`{"allOf":[` + string(g.Schema) + `]}`)
			}
			s, err := Parse(raw)
			if err != nil {
				// What this package refuses on purpose: other documents, other
				// resources, and their anchors.
				require.Regexp(t, `leads out of the schema|of its own inside a schema|unknown dialect`, err.Error(), "%s: %s", file, g.Description)
				refused++
				continue
			}
			for _, c := range g.Tests {
				ran++
				require.Equal(t, c.Valid, s.Validate(c.Data) == nil, "%s: %s: %s\n%s\n%s", filepath.Base(file), g.Description, c.Description, g.Schema, c.Data)
			}
		}
	}
	t.Logf("%d cases checked, %d schemas refused", ran, refused)
	require.Greater(t, ran, 900)
	require.Less(t, refused, 60)
}
