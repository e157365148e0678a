// Package mrtrlambda_test holds the module's packages to the layout: which
// folders there are and what each may import.
package mrtrlambda_test

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/functions/mcp/tools"
)

const module = "github.com/mrtr-lambda/mrtr-lambda"

// Outside packages, by the names that the layout uses for them. An entry stands
// for the package and all below it.
const (
	jsonLibrary   = "github.com/go-json-experiment/json"
	schemaLibrary = "github.com/google/jsonschema-go"
	awsSDK        = "github.com/aws/aws-sdk-go-v2"
	awsErrors     = "github.com/aws/smithy-go"
	awsLambda     = "github.com/aws/aws-lambda-go"
	mcpSDK        = "github.com/modelcontextprotocol/go-sdk"
	joseLibrary   = "github.com/go-jose/go-jose/v4"
	uriTemplate   = "github.com/yosida95/uritemplate/v3"
	oauthLibrary  = "golang.org/x/oauth2"
	terminalUI    = "charm.land" // huh and what it is made of
	terminal      = "github.com/charmbracelet/x"
	otel          = "go.opentelemetry.io/otel" // its API, SDK and exporters
	otelSDK       = "go.opentelemetry.io/otel/sdk"
	otelExporters = "go.opentelemetry.io/otel/exporters"
	grpc          = "google.golang.org/grpc"
)

// row is one line of the layout.
type row struct {
	// imports lists what the package may import directly beside the standard
	// library and mrtr/protocol: packages of ours by their folder, others by one
	// of the names above.
	imports []string
	// never lists what the package may not import transitively, entries as in
	// imports. "ours" stands for every other package of the module.
	never []string
}

// layout has one row for each package.
var layout = map[string]row{
	"mrtr": {
		imports: []string{"mrtr/requeststate", "mrtr/internal/jsonrpc", "mrtr/internal/replay", "mrtr/internal/schema", jsonLibrary, uriTemplate},
	},
	"mrtr/protocol":            {imports: []string{jsonLibrary}},
	"mrtr/internal/jsonrpc":    {imports: []string{jsonLibrary}},
	"mrtr/internal/replay":     {imports: []string{jsonLibrary}, never: []string{"net", "os/exec"}},
	"mrtr/internal/awsfailure": {imports: []string{awsErrors}, never: []string{"ours"}},
	"mrtr/internal/schema":     {imports: []string{jsonLibrary, schemaLibrary}},
	"mrtr/requeststate":        {imports: []string{jsonLibrary}, never: []string{"ours", awsSDK, awsErrors, awsLambda, "net/http"}},

	"mrtr/kmskeys":         {imports: []string{"mrtr/requeststate", "mrtr/internal/awsfailure", awsSDK, awsErrors}},
	"mrtr/kmskeys/kmstest": {imports: []string{"mrtr/requeststate", awsSDK, awsErrors, jsonLibrary}},

	"mrtr/dynamostore": {imports: []string{"mrtr", "mrtr/internal/awsfailure", awsSDK, awsErrors}},

	"mrtr/lambdahttp":            {imports: []string{awsLambda, jsonLibrary}, never: []string{"ours"}},
	"mrtr/lambdahttp/lambdatest": {imports: []string{"mrtr/lambdahttp", awsLambda, jsonLibrary}},

	"mrtr/auth": {imports: []string{"mrtr", "mrtr/lambdahttp", jsonLibrary, joseLibrary}, never: []string{awsSDK, "github.com/coreos/go-oidc"}},

	"mrtr/mrtrotel":      {imports: []string{"mrtr", otel}, never: []string{otelSDK, otelExporters, awsSDK, awsLambda}},
	"mrtr/mrtrotel/otlp": {imports: []string{otel}, never: []string{awsSDK, awsLambda}},

	"mrtr/awslambda": {
		imports: []string{"mrtr", "mrtr/auth", "mrtr/requeststate", "mrtr/kmskeys", "mrtr/lambdahttp", awsSDK, awsErrors, awsLambda, jsonLibrary},
		// With the tag otlp also mrtr/mrtrotel and its otlp: see TestTraceBuild.
		never: []string{"mrtr/mrtrotel", "mrtr/mrtrotel/otlp"},
	},
	// A client cannot read a state.
	"mrtr/client": {
		imports: []string{"mrtr/internal/schema", mcpSDK, jsonLibrary},
		never:   []string{"mrtr", "mrtr/requeststate"},
	},
	"mrtr/mrtrtest": {imports: []string{"mrtr", "mrtr/requeststate", "mrtr/internal/jsonrpc", jsonLibrary}},

	"conformance/fixture": {imports: []string{"mrtr", jsonLibrary}},
	"conformance/client":  {imports: []string{"mrtr/client", mcpSDK, jsonLibrary}, never: []string{"mrtr", "mrtr/requeststate"}},
	"conformance/gateway": {imports: []string{"mrtr/lambdahttp", "mrtr/lambdahttp/lambdatest", "mrtr/kmskeys/kmstest"}},
	// It judges from outside.
	"conformance/smoke": {imports: []string{awsSDK, jsonLibrary}, never: []string{"mrtr", "mrtr/requeststate", "mrtr/client"}},
	"events/next":       {imports: []string{jsonLibrary}},
	"functions/conformance": {
		imports: []string{"mrtr", "mrtr/awslambda", "conformance/fixture", jsonLibrary},
		never:   []string{"mrtr/kmskeys/kmstest", "mrtr/lambdahttp/lambdatest", "mrtr/mrtrtest", "testing"},
	},
	// The command line: nothing that is deployed depends on it.
	"cmd/mrtr": {imports: []string{
		"mrtr", "mrtr/client", "mrtr/requeststate", "mrtr/kmskeys", "cmd/mrtr/internal/prompt", "cmd/mrtr/internal/signin",
		"cmd/mrtr/internal/walkthrough", mcpSDK, awsSDK, jsonLibrary,
	}},
	"cmd/mrtr/internal/prompt": {
		imports: []string{"mrtr/client", terminalUI, terminal, jsonLibrary},
		never:   []string{"mrtr", "mrtr/requeststate"},
	},
	"cmd/mrtr/internal/signin": {
		imports: []string{mcpSDK, oauthLibrary, awsSDK, jsonLibrary},
		never:   []string{"mrtr", "mrtr/requeststate"},
	},
	"cmd/mrtr/internal/walkthrough": {imports: []string{
		"mrtr", "mrtr/client", "mrtr/requeststate", "conformance/fixture", "cmd/mrtr/internal/prompt", mcpSDK, terminalUI, terminal, jsonLibrary,
	}},
	"functions/mcp/tools": {imports: []string{"mrtr", "conformance/fixture", jsonLibrary}},
	"functions/mcp": {
		imports: []string{"mrtr", "mrtr/awslambda", "functions/mcp/tools", "conformance/fixture"},
		// What the deployed binary must not carry.
		never: []string{"mrtr/dynamostore", "mrtr/kmskeys/kmstest", "mrtr/lambdahttp/lambdatest", "mrtr/mrtrtest", "github.com/stretchr/testify", otel, grpc, "testing"},
	},
}

// allowedEverywhere may be imported by every package but those below it.
const allowedEverywhere = "mrtr/protocol"

// forks is the folder whose tools a fork replaces by its own, which import what
// they like.
const forks = "functions/mcp/tools"

func TestLayout(t *testing.T) {
	packages := listPackages(t)
	forked := !tools.NewServer().HasTool("test_tool_with_elicitation")
	exempt := func(folder string) bool { return forked && below(folder, forks) }

	t.Run("every package has a row", func(t *testing.T) {
		for folder := range packages.ours {
			_, ok := layout[folder]
			ok = ok || exempt(folder)
			require.True(t, ok, "add a row for %s", folder)
		}
	})

	for folder, want := range layout {
		t.Run(folder, func(t *testing.T) {
			if exempt(folder) {
				t.Skip("the tools are not this project's")
			}
			pkg, ok := packages.ours[folder]
			require.True(t, ok, "the row has no package")

			for _, imported := range pkg.Imports {
				require.NotEqual(t, "encoding/json", imported, "the JSON library here is %s", jsonLibrary)
				require.True(t, packages.allowed(want, imported), "must not import %s", imported)
			}
			for _, dependency := range pkg.Deps {
				if matches(want.never, folder, dependency) {
					t.Errorf("must not depend on %s; one way is %s", dependency, strings.Join(packages.way(pkg.ImportPath, dependency), " → "))
				}
			}
		})
	}
}

// TestTraceBuild: the tag otlp, and nothing else, links the exporter.
func TestTraceBuild(t *testing.T) {
	for tags, linked := range map[string]bool{"lambda.norpc": false, "lambda.norpc,otlp": true} {
		out, err := exec.Command("go", "list", "-deps", "-tags="+tags, "./functions/mcp").Output()
		require.NoError(t, err)
		packages := strings.Fields(string(out))
		for _, root := range []string{otelExporters, otelSDK, otel, grpc, module + "/mrtr/mrtrotel"} {
			require.Equal(t, linked, slices.ContainsFunc(packages, func(p string) bool { return below(p, root) }), "%s with %s", root, tags)
		}
	}
}

// TestSchemaLibrary holds the JSON Schema library behind one file, so that it
// can be replaced.
func TestSchemaLibrary(t *testing.T) {
	var files []string
	for _, pkg := range listPackages(t).ours {
		for _, name := range pkg.GoFiles {
			file := filepath.Join(pkg.Dir, name)
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			require.NoError(t, err)
			for _, imported := range parsed.Imports {
				if below(strings.Trim(imported.Path.Value, `"`), schemaLibrary) {
					files = append(files, file)
				}
			}
		}
	}
	require.LessOrEqual(t, len(files), 1, "imported by %v", files)
}

// listed is what go list says of a package, test files left out.
type listed struct {
	Dir        string
	ImportPath string
	Standard   bool
	GoFiles    []string
	Imports    []string
	Deps       []string
}

// packageSet holds the module's packages by folder, and all that they depend on
// by import path.
type packageSet struct {
	ours map[string]listed
	all  map[string]listed
}

// listPackages asks go list. Folders with nothing but tests are no packages.
func listPackages(t *testing.T) packageSet {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-tags=lambda.norpc",
		"-json=Dir,ImportPath,Standard,GoFiles,Imports,Deps", "./...")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("go list: %s", exit.Stderr)
	}
	require.NoError(t, err)

	set := packageSet{ours: map[string]listed{}, all: map[string]listed{}}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg listed
		if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		set.all[pkg.ImportPath] = pkg
		if folder, ok := strings.CutPrefix(pkg.ImportPath, module+"/"); ok && len(pkg.GoFiles) > 0 {
			set.ours[folder] = pkg
		}
	}
	require.NotEmpty(t, set.ours)
	return set
}

// allowed reports whether a package with this row may import the path directly.
func (s packageSet) allowed(r row, imported string) bool {
	if s.all[imported].Standard || imported == path.Join(module, allowedEverywhere) {
		return true
	}
	return slices.ContainsFunc(r.imports, func(entry string) bool {
		if _, ours := layout[entry]; ours {
			return imported == path.Join(module, entry)
		}
		return below(imported, entry)
	})
}

// way returns one chain of imports from a package to what it depends on.
func (s packageSet) way(from, to string) []string {
	if from == to {
		return []string{to}
	}
	for _, imported := range s.all[from].Imports {
		if imported == to || slices.Contains(s.all[imported].Deps, to) {
			return append([]string{from}, s.way(imported, to)...)
		}
	}
	return []string{from, to}
}

// matches reports whether an import path is among the entries of a row's never.
func matches(entries []string, folder, imported string) bool {
	return slices.ContainsFunc(entries, func(entry string) bool {
		switch _, ours := layout[entry]; {
		case entry == "ours":
			return below(imported, module) && imported != path.Join(module, folder)
		case ours:
			return imported == path.Join(module, entry)
		}
		return below(imported, entry)
	})
}

// below reports whether an import path is root or lies under it.
func below(imported, root string) bool {
	return imported == root || strings.HasPrefix(imported, root+"/")
}
