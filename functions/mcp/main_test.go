package main_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mrtr-lambda/mrtr-lambda/functions/mcp/tools"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
)

var (
	update = flag.Bool("update", false, "write the golden answers anew")

	bootstrap string // the endpoint's binary
	rounds    string // testdata/rounds: the endpoint under a test's clock
	limits    string // testdata/limits: tools that go to the limits
)

// TestMain builds the binaries once. AWS_CA_BUNDLE names a file that is not
// there, so that every process fails to which it leaks.
func TestMain(m *testing.M) {
	flag.Parse()
	os.Unsetenv("AWS_CA_BUNDLE")
	dir, err := os.MkdirTemp("", "mcp-test-*")
	if err == nil {
		bootstrap, rounds, limits = filepath.Join(dir, "bootstrap"), filepath.Join(dir, "rounds"), filepath.Join(dir, "limits")
		err = build(map[string]string{bootstrap: ".", rounds: "./testdata/rounds", limits: "./testdata/limits"})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Setenv("AWS_CA_BUNDLE", filepath.Join(dir, "none.pem"))
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// needContract skips a test that calls the contract's tools where the endpoint
// has others: a fork puts its own in the place of package tools. The tests of
// that package fail where it has lost them.
func needContract(t *testing.T) {
	t.Helper()
	if !tools.NewServer().HasTool(elicitation) {
		t.Skip("package tools does not offer the tools of the contract, which this test calls")
	}
}

func build(packages map[string]string) error {
	var wg sync.WaitGroup
	errs := make(chan error, len(packages))
	for out, pkg := range packages {
		wg.Go(func() { errs <- lambdatest.Build(context.Background(), ".", pkg, out) })
	}
	wg.Wait()
	for range packages {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}
