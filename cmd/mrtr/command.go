package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/mrtr-lambda/mrtr-lambda/cmd/mrtr/internal/prompt"
)

// stdio is what a command reads and writes: results go to out, all else to err.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// note tells the user something on the way.
func (s stdio) note(format string, args ...any) {
	fmt.Fprintf(s.err, "mrtr: %s\n", prompt.Line(fmt.Sprintf(format, args...)))
}

// command is one of the words that may follow mrtr.
type command struct {
	name  string
	args  string // what follows it, for the usage
	short string
	run   func(context.Context, stdio, *flags) error
}

// commands in the order of the usage.
func commands() []command {
	return []command{
		{"list", "URL", "list the tools of a server", list},
		{"call", "URL TOOL", "call a tool and answer what it asks", call},
		{"inspect", "[TOKEN]", "show what a requestState says; standard input keeps it out of the shell's history", inspect},
		{"demo", "", "walk through a call that asks back", demo},
		{processCommand, "", "", demoProcess}, // for demo's own use
	}
}

// Exit codes.
const (
	exitDone     = 0
	exitTool     = 1 // the tool reported an error
	exitUsage    = 2 // the command line, or what it does not say, such as an answer
	exitDeclined = 3 // the user said no
	exitFailed   = 4 // protocol or network
)

// failure is an error with its exit code.
type failure struct {
	code int
	err  error
	hint string // what to do about it; may be empty
}

func (f *failure) Error() string { return f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

// usage is a failure of the command line.
func usage(hint, format string, args ...any) error {
	return &failure{code: exitUsage, err: fmt.Errorf(format, args...), hint: hint}
}

// run runs the command that args name and returns the exit code.
func run(args []string, s stdio) int {
	ctx := context.Background()
	if len(args) == 0 {
		writeUsage(s.err)
		return exitUsage
	}
	name := args[0]
	switch name {
	case "help", "-h", "-help", "--help":
		writeUsage(s.out)
		return exitDone
	}
	for _, c := range commands() {
		if c.name == name {
			return exitCode(c.run(ctx, s, newFlags(c, args[1:])), s)
		}
	}
	return exitCode(usage("mrtr help lists the commands", "unknown command %q", name), s)
}

// exitCode reports err and returns its code. An error that is no failure came
// from the protocol or the network.
func exitCode(err error, s stdio) int {
	var f *failure
	help, isHelp := errors.AsType[*helpError](err)
	switch {
	case err == nil:
		return exitDone
	case isHelp:
		fmt.Fprint(s.out, help.text)
		return exitDone
	case !errors.As(err, &f):
		f = &failure{code: exitFailed, err: err}
	}
	s.note("%s", strings.TrimPrefix(around.ReplaceAllString(f.Error(), ""), "client: "))
	if f.hint != "" {
		fmt.Fprintf(s.err, "hint: %s\n", prompt.Line(f.hint))
	}
	return f.code
}

func writeUsage(w io.Writer) {
	fmt.Fprint(w, "usage: mrtr COMMAND\n\n")
	for _, c := range commands() {
		if c.short == "" {
			continue
		}
		fmt.Fprintf(w, "  mrtr %-16s %s\n", strings.TrimSpace(c.name+" "+c.args), c.short)
	}
	fmt.Fprint(w, "\nmrtr COMMAND -h says more. Exit codes: 0 done, 1 the tool reported an error, 2 usage,\n"+
		"3 declined, 4 protocol or network.\n")
}

// flags is a command line: flags and arguments in any order. Flags may have one
// dash or two; all that follows "--" is an argument.
type flags struct {
	*flag.FlagSet
	command command
	args    []string
}

func newFlags(c command, args []string) *flags {
	f := &flags{FlagSet: flag.NewFlagSet(c.name, flag.ContinueOnError), command: c, args: args}
	f.SetOutput(io.Discard) // an error is one line, and exitCode's
	f.Usage = func() {}
	return f
}

// helpError asks for the usage of a command.
type helpError struct{ text string }

func (e *helpError) Error() string { return "help" }

// parse reads the command line and returns its arguments, between least and most
// of them.
func (f *flags) parse(least, most int) ([]string, error) {
	hint := "mrtr " + f.command.name + " -h shows the usage"
	var args []string
	for rest := f.args; ; {
		err := f.Parse(rest)
		if errors.Is(err, flag.ErrHelp) {
			return nil, &helpError{f.help()}
		}
		if err != nil {
			return nil, usage(hint, "%w", err)
		}
		parsed := rest[:len(rest)-f.NArg()]
		if len(parsed) > 0 && parsed[len(parsed)-1] == "--" {
			args = append(args, f.Args()...)
			break
		}
		if f.NArg() == 0 {
			break
		}
		args, rest = append(args, f.Arg(0)), f.Args()[1:]
	}
	if len(args) < least || len(args) > most {
		return nil, usage(hint, "mrtr %s takes %s", f.command.name, cmp.Or(f.command.args, "no arguments"))
	}
	return args, nil
}

func (f *flags) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: mrtr %s [flags]\n\n%s\n\n", strings.TrimSpace(f.command.name+" "+f.command.args), f.command.short)
	f.VisitAll(func(g *flag.Flag) {
		value, text := flag.UnquoteUsage(g)
		name := "--" + g.Name
		if value != "" {
			name += " " + value
		}
		fmt.Fprintf(&b, "  %-22s %s\n", name, text)
	})
	return b.String()
}

// many is a flag that may come several times.
type many []string

func (m *many) String() string     { return strings.Join(*m, " ") }
func (m *many) Set(v string) error { *m = append(*m, v); return nil }
