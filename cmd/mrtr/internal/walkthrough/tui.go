package walkthrough

import (
	"context"
	"fmt"
	"os"

	tea "charm.land/bubbletea/v2"
)

// FullScreen shows the steps on a terminal's whole screen until the user ends
// it: the steps at the left, what goes over the wire at the right.
func FullScreen(ctx context.Context, g *Guide, in, out *os.File) error {
	m := newScreen(func(s Step) ([]Block, error) { return g.Run(ctx, s) }, g.URL())
	if _, err := tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(out), tea.WithContext(ctx)).Run(); err != nil {
		return fmt.Errorf("showing the walkthrough: %w", err)
	}
	return nil
}

// screen is the full-screen view: which step is shown, and how far it is
// scrolled. Steps run in order, one at a time, since they build on one another.
type screen struct {
	run   func(Step) ([]Block, error)
	url   string
	steps []Step

	shown   []result // of the steps that have run, in order
	current int
	running bool
	wanted  int // the step to go to, when all before have run
	scroll  int // lines of the right side above the window

	width, height int
}

// result is what a step gave.
type result struct {
	blocks []Block
	err    error
}

var _ tea.Model = (*screen)(nil)

func newScreen(run func(Step) ([]Block, error), url string) *screen {
	return &screen{run: run, url: url, steps: Steps()}
}

// Init runs the first step.
func (s *screen) Init() tea.Cmd { return s.goTo(0) }

// goTo shows a step, and runs it and those before it where they have not run.
func (s *screen) goTo(step int) tea.Cmd {
	step = max(0, min(step, len(s.steps)-1))
	s.wanted = step
	if step < len(s.shown) {
		s.current, s.scroll = step, 0
		return nil
	}
	if s.running || s.failed() {
		return nil
	}
	s.running = true
	s.current, s.scroll = len(s.shown), 0
	next := s.steps[s.current]
	return func() tea.Msg {
		blocks, err := s.run(next)
		return result{blocks, err}
	}
}

// failed reports whether the last step failed: nothing goes on after that.
func (s *screen) failed() bool { return len(s.shown) > 0 && s.shown[len(s.shown)-1].err != nil }

// Update takes one message.
func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = m.Width, m.Height
		s.scroll = min(s.scroll, s.mostScroll())
	case result:
		s.running = false
		s.shown = append(s.shown, m)
		if s.wanted >= len(s.shown) {
			return s, s.goTo(s.wanted)
		}
	case tea.KeyPressMsg:
		return s, s.key(m.String())
	}
	return s, nil
}

func (s *screen) key(k string) tea.Cmd {
	page := max(s.body()-2, 1)
	switch k {
	case "q", "esc", "ctrl+c":
		return tea.Quit
	case "enter", "space", "right", "n", "l":
		if !s.running {
			return s.goTo(s.current + 1)
		}
	case "left", "p", "h":
		return s.goTo(s.current - 1)
	case "down", "j":
		s.scroll++
	case "up", "k":
		s.scroll--
	case "pgdown", "ctrl+f":
		s.scroll += page
	case "pgup", "ctrl+b":
		s.scroll -= page
	case "home", "g":
		s.scroll = 0
	case "end", "G":
		s.scroll = s.mostScroll()
	default:
		if len(k) == 1 && k >= "1" && k <= "9" {
			return s.goTo(int(k[0] - '1'))
		}
	}
	s.scroll = max(0, min(s.scroll, s.mostScroll()))
	return nil
}
