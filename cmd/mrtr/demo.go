package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/mrtr-lambda/mrtr-lambda/cmd/mrtr/internal/prompt"
	"github.com/mrtr-lambda/mrtr-lambda/cmd/mrtr/internal/walkthrough"
)

// defaultPage is where the page of documentation is.
const defaultPage = "docs/WALKTHROUGH.md"

// demo is the command that walks through a call.
func demo(ctx context.Context, s stdio, f *flags) error {
	address := f.String("url", "", "`endpoint` to walk through, with the tools of this project's own; without, one in this process")
	through := f.Bool("non-interactive", false, "do not wait between the steps")
	full := f.Bool("tui", false, "on the full screen")
	doc := f.String("doc", "", "write the page of documentation in this `format`: md")
	out := f.String("out", defaultPage, "`file` for --doc; - is standard output")
	access := f.credentials()
	if _, err := f.parse(0, 0); err != nil {
		return err
	}
	o := walkthrough.Options{URL: *address, Process: newProcess}
	if *address != "" {
		u, err := parseURL(*address)
		if err != nil {
			return err
		}
		if o.Client, o.Token, err = access.client(ctx, s, u); err != nil {
			return err
		}
	}
	switch {
	case *doc != "" && *doc != "md":
		return usage("--doc md", "--doc knows no format %q", *doc)
	case *doc != "" && (*address != "" || *full):
		return usage("", "--doc goes with neither --url nor --tui")
	case *full && *through:
		return usage("", "--tui and --non-interactive exclude one another")
	case *doc != "":
		return writePage(ctx, s, o, *out)
	}
	g, err := walkthrough.NewGuide(o)
	if err != nil {
		return err
	}
	defer g.Close()
	if *full {
		return fullScreen(ctx, s, g)
	}
	return walk(ctx, s, g, *through)
}

// newProcess makes a process of this program that serves one request.
func newProcess() *exec.Cmd {
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	cmd := exec.Command(path, processCommand)
	cmd.Stderr = os.Stderr
	return cmd
}

// processCommand is the name of the command that newProcess runs.
const processCommand = "demo-process"

func demoProcess(_ context.Context, s stdio, f *flags) error {
	if _, err := f.parse(0, 0); err != nil {
		return err
	}
	return walkthrough.ServeProcess(s.in, s.out)
}

// walk shows the steps one after the other.
func walk(ctx context.Context, s stdio, g *walkthrough.Guide, through bool) error {
	steps := walkthrough.Steps()
	in := bufio.NewReader(s.in)
	fmt.Fprintf(s.out, "MCP calls that ask back, in %d steps, at %s\n", len(steps), g.URL())
	for i, step := range steps {
		blocks, err := g.Run(ctx, step)
		walkthrough.WriteStep(s.out, i+1, len(steps), step, blocks, 80)
		if err != nil {
			return err
		}
		if through || i+1 == len(steps) {
			continue
		}
		fmt.Fprint(s.err, "\nenter goes on, q ends: ")
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			fmt.Fprintln(s.err)
			return usage("--non-interactive runs through", "standard input has ended")
		}
		if err != nil {
			return fmt.Errorf("reading standard input: %w", err)
		}
		if strings.HasPrefix(strings.TrimSpace(line), "q") {
			return nil
		}
	}
	return nil
}

// writePage writes the page of documentation.
func writePage(ctx context.Context, s stdio, o walkthrough.Options, path string) error {
	page, err := walkthrough.Page(ctx, o)
	if err != nil {
		return err
	}
	if path == "-" {
		_, err := io.WriteString(s.out, page)
		return err
	}
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		return usage("run it at the top of the repository, or say --out FILE", "writing the page: %w", err)
	}
	return nil
}

// fullScreen shows the steps on the terminal's whole screen.
func fullScreen(ctx context.Context, s stdio, g *walkthrough.Guide) error {
	in, out, why := prompt.Files(s.in, s.err)
	if why != "" {
		return usage("--non-interactive runs through", "%s", why)
	}
	return walkthrough.FullScreen(ctx, g, in, out)
}
