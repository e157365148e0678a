package prompt

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// dialog is a form on the screen, with the two keys that leave it.
type dialog struct {
	form   *huh.Form
	keys   string
	above  int                   // lines that should stay in sight above it
	sized  bool                  // the screen's size is known
	action protocol.ElicitAction // empty: the user is at it
}

// leastHeight is what a form gets on a screen that is high enough for it,
// whatever stands above.
const leastHeight = 10

var _ tea.Model = (*dialog)(nil)

// run shows a form until it is sent or left: accept, decline for ctrl-d, cancel
// for ctrl-c. The terminal is as before afterwards, and the form is gone.
func (t *Terminal) run(ctx context.Context, form *huh.Form, decline, cancel string) (protocol.ElicitAction, error) {
	keys := "ctrl+d " + decline + " • ctrl+c " + cancel
	if decline == cancel {
		keys = "ctrl+c " + cancel
	}
	d := &dialog{form: form.WithTheme(huh.ThemeFunc(huh.ThemeBase16)), keys: keys, above: t.above}
	_, err := tea.NewProgram(d, tea.WithInput(t.in), tea.WithOutput(t.out), tea.WithContext(ctx)).Run()
	switch {
	case errors.Is(err, tea.ErrInterrupted): // by a signal
		d.action = protocol.ElicitCancel
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", fmt.Errorf("showing the form: %w", err)
	case d.action == "":
		d.action = protocol.ElicitCancel
	}
	said := map[protocol.ElicitAction]string{
		protocol.ElicitAccept: "answered", protocol.ElicitDecline: past(decline), protocol.ElicitCancel: past(cancel),
	}
	fmt.Fprintf(t.out, "  (%s)\n", said[d.action])
	return d.action, nil
}

func past(verb string) string {
	switch verb {
	case "cancel":
		return "cancelled"
	case "refuse":
		return "refused"
	}
	return "declined"
}

// Init starts the form.
func (d *dialog) Init() tea.Cmd { return d.form.Init() }

// Update takes one message.
func (d *dialog) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		m.Height = max(m.Height-2-d.above, min(m.Height-2, leastHeight), 1) // two lines for the keys
		msg, d.sized = m, true
	case tea.KeyPressMsg:
		switch m.String() {
		case "ctrl+c":
			d.action = protocol.ElicitCancel
			return d, tea.Quit
		case "ctrl+d":
			d.action = protocol.ElicitDecline
			return d, tea.Quit
		}
	}
	m, cmd := d.form.Update(msg)
	if f, ok := m.(*huh.Form); ok {
		d.form = f
	}
	if d.form.State == huh.StateCompleted {
		d.action = protocol.ElicitAccept
		return d, tea.Quit
	}
	return d, cmd
}

// View is what is on the screen: the form, below what was written before it. A
// form that was drawn too high first would push that away.
func (d *dialog) View() tea.View {
	if d.action != "" || !d.sized {
		return tea.NewView("")
	}
	return tea.NewView(d.form.View() + "\n" + d.keys)
}

// host returns the site that an address leads to. Letters beyond ASCII, which can
// look like others, are escaped.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	quoted := strconv.QuoteToASCII(u.Host)
	return quoted[1 : len(quoted)-1]
}
