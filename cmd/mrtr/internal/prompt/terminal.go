package prompt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"charm.land/huh/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/term"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// ErrRefused says that the user does not answer, where the protocol has no
// answer that says so.
var ErrRefused = errors.New("prompt: refused")

// Terminal is a person at a terminal. It is safe for concurrent use: it asks one
// thing at a time, and what else is to be asked waits. Open makes it.
type Terminal struct {
	turn    chan struct{} // holds one element while something is asked
	in, out *os.File
	server  string // who asks
	above   int    // lines of the last head
}

// Open returns the terminal that in and out are, to ask what server wants to
// know. Where they are none it returns nil and says why.
func Open(in io.Reader, out io.Writer, server string) (*Terminal, string) {
	i, o, why := Files(in, out)
	if why != "" {
		return nil, why
	}
	return newTerminal(i, o, server), ""
}

func newTerminal(in, out *os.File, server string) *Terminal {
	return &Terminal{turn: make(chan struct{}, 1), in: in, out: out, server: Line(server)}
}

// begin waits until nothing else is asked. Where it returns no error, end must
// follow.
func (t *Terminal) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case t.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *Terminal) end() { <-t.turn }

// Files returns in and out where both are a terminal that forms can be drawn on,
// or says why they are not.
func Files(in io.Reader, out io.Writer) (i, o *os.File, why string) {
	i, okIn := in.(*os.File)
	o, okOut := out.(*os.File)
	switch {
	case !okIn || !term.IsTerminal(i.Fd()):
		return nil, nil, "standard input is no terminal to ask at"
	case !okOut || !term.IsTerminal(o.Fd()):
		return nil, nil, "standard error is no terminal to ask at"
	case os.Getenv("TERM") == "dumb":
		return nil, nil, "a terminal of the type dumb cannot show a form"
	}
	return i, o, ""
}

// head writes who asks what, above a form. It stays when the form is gone.
func (t *Terminal) head(message string, more ...string) {
	lines := []string{t.server + " asks:"}
	for line := range strings.SplitSeq(strings.TrimSpace(Text(message)), "\n") {
		lines = append(lines, "  "+line)
	}
	for _, line := range more {
		lines = append(lines, "  "+Line(line))
	}
	width, _, err := term.GetSize(t.out.Fd())
	if err != nil || width < 1 {
		width = 80
	}
	t.above = 0
	for _, line := range lines {
		t.above += 1 + max(lipgloss.Width(line)-1, 0)/width
		fmt.Fprintln(t.out, line)
	}
}

// Form asks the user to fill in a form. ctrl-d declines, ctrl-c cancels.
func (t *Terminal) Form(ctx context.Context, q *client.FormQuestion) (protocol.ElicitResult, error) {
	if err := t.begin(ctx); err != nil {
		return protocol.ElicitResult{}, err
	}
	defer t.end()
	var invalid []string
	for _, s := range q.Invalid {
		invalid = append(invalid, "Not taken: "+s)
	}
	t.head(q.Message, invalid...)
	fields := newFields(q)
	widgets := make([]huh.Field, len(fields))
	for i := range fields {
		widgets[i] = fields[i].widget
	}
	if len(fields) == 0 { // nothing to fill in, but a yes is asked for
		widgets = []huh.Field{huh.NewNote().Title("Nothing to fill in.").Next(true).NextLabel("Send")}
	}
	action, err := t.run(ctx, huh.NewForm(huh.NewGroup(widgets...)), "decline", "cancel")
	r := protocol.ElicitResult{Action: action}
	if err == nil && action == protocol.ElicitAccept {
		r.Content, err = content(fields)
	}
	return r, err
}

// URL shows the user an address and waits until they say that they are done
// there, or that they do not go.
func (t *Terminal) URL(ctx context.Context, q *client.URLQuestion) (protocol.ElicitAction, error) {
	if err := t.begin(ctx); err != nil {
		return "", err
	}
	defer t.end()
	t.head(q.Message, "", q.URL, "on the site "+host(q.URL), "")
	action := protocol.ElicitAccept
	pick := huh.NewSelect[protocol.ElicitAction]().Title("Open the address, then go on.").Options(
		huh.NewOption("Go on: I opened it", protocol.ElicitAccept),
		huh.NewOption("Decline", protocol.ElicitDecline),
	).Value(&action)
	pressed, err := t.run(ctx, huh.NewForm(huh.NewGroup(pick)), "decline", "cancel")
	if pressed != protocol.ElicitAccept {
		action = pressed
	}
	return action, err
}

// Sample asks the user for what a model would say. ErrRefused: they do not.
func (t *Terminal) Sample(ctx context.Context, p *protocol.CreateMessageParams) (string, error) {
	if err := t.begin(ctx); err != nil {
		return "", err
	}
	defer t.end()
	t.head("A model's answer to:", conversation(p)...)
	var text string
	answer := huh.NewText().Title("Your answer in its place").ExternalEditor(false).Value(&text).Validate(func(s string) error {
		if strings.TrimSpace(s) == "" {
			return errors.New("say something, or refuse")
		}
		return nil
	})
	action, err := t.run(ctx, huh.NewForm(huh.NewGroup(answer)), "refuse", "refuse")
	if err == nil && action != protocol.ElicitAccept {
		err = ErrRefused
	}
	return text, err
}

// conversation returns the lines of what a model is asked.
func conversation(p *protocol.CreateMessageParams) []string {
	var lines []string
	if p.SystemPrompt != "" {
		lines = append(lines, "system: "+p.SystemPrompt)
	}
	for _, m := range p.Messages {
		for _, c := range m.Content {
			text := "[" + c.ContentType() + "]"
			if t, ok := c.(*protocol.TextContent); ok {
				text = t.Text
			}
			lines = append(lines, string(m.Role)+": "+text)
		}
	}
	return lines
}
