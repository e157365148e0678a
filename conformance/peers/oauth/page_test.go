package oauth

import (
	"bytes"
	_ "embed"
	"os"
	"testing"
	"text/template"

	"github.com/stretchr/testify/require"
)

// page is the part of docs/clients.md that speaks of signing in.
type page struct {
	Clients []row
}

type row struct {
	Name, Version string
	HTTPAPI, REST string // from the first refusal to the end of a call
	StepUp        string // a tool needs a scope that the first sign-in lacks
	StepUpREST    string
	Renewed       string // the token is renewed between rounds
	Expired       string // it comes to its end, and the client has its metadata at an address
	Registered    string // the same, and the client registers
	Other         string // another person signs in between rounds
}

//go:embed clients.md.tmpl
var pageTemplate string

// compare holds the page against the file, or writes the file.
func (pg page) compare(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, template.Must(template.New("clients.md").Parse(pageTemplate)).Execute(&b, pg))
	if *update {
		require.NoError(t, os.WriteFile("clients.md", b.Bytes(), 0o644))
		return
	}
	committed, err := os.ReadFile("clients.md")
	require.NoError(t, err)
	require.Equal(t, string(committed), b.String(), "clients.md is not what the clients did; make interop UPDATE=-update writes it")
}
