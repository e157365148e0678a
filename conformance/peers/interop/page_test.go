package interop

import (
	"bytes"
	_ "embed"
	"os"
	"path/filepath"
	"testing"
	"text/template"

	"github.com/stretchr/testify/require"
)

// page is what docs/clients.md shows.
type page struct {
	Clients []clientRow
	Loops   []loopRow
	Words   []string // lines of what a handshake client shows that does not go on
	SignIn  string   // the part that the runs of package oauth keep
}

type clientRow struct {
	Name, Version, Era, Opening string
	List                        string
	MultiRound, MultipleInputs  string
	Note                        string
}

type loopRow struct {
	Name          string
	Empty, Absent string // what follows an answer without questions
	Mixed         string // what follows two of those, a question, and two more
	Rounds        string
	Error         string // what the caller gets when the client gives up
	Bare          string // what follows a question for roots that has no params
}

//go:embed clients.md.tmpl
var pageTemplate string

// compare holds the page against the file, or writes the file.
func (pg page) compare(t *testing.T) {
	part, err := os.ReadFile(filepath.Join("..", "oauth", "clients.md"))
	require.NoError(t, err)
	pg.SignIn = string(part)
	var b bytes.Buffer
	require.NoError(t, template.Must(template.New("clients.md").Parse(pageTemplate)).Execute(&b, pg))
	file := filepath.Join("..", "..", "..", "docs", "clients.md")
	if *update {
		require.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))
		return
	}
	committed, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(committed), b.String(), "docs/clients.md is not what the clients did; make interop UPDATE=-update writes it")
}
