package walkthrough

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mrtr-lambda/mrtr-lambda/cmd/mrtr/internal/prompt"
)

const (
	leastWidth, leastHeight = 60, 16

	keysLine = "enter next • ← back • 1-9 step • ↑↓ pgup pgdn scroll • q quit"
)

var (
	bar   = lipgloss.NewStyle().Reverse(true)
	bold  = lipgloss.NewStyle().Bold(true)
	faint = lipgloss.NewStyle().Faint(true)
)

// body is how many lines there are between the bars.
func (s *screen) body() int { return max(s.height-2, 1) }

// columns returns the widths of both sides; one blank is at each side of the
// line between them.
func (s *screen) columns() (left, right int) {
	left = max(24, min(s.width/3, 44))
	return left, max(s.width-left-3, 1)
}

// View draws the screen.
func (s *screen) View() tea.View {
	v := tea.NewView(s.draw())
	v.AltScreen = true
	return v
}

func (s *screen) draw() string {
	if s.width == 0 {
		return ""
	}
	if s.width < leastWidth || s.height < leastHeight {
		return ansi.Truncate(fmt.Sprintf("The window is too small: %d by %d at least.", leastWidth, leastHeight), s.width, "…")
	}
	left, right := s.columns()
	l, r := s.leftSide(left), s.rightSide(right)
	r = r[min(s.scroll, len(r)):]
	lines := []string{bar.Render(fit(" Calls that ask back, at "+s.url, s.width))}
	for i := range s.body() {
		lines = append(lines, line(l, i, left)+" │ "+strings.TrimRight(line(r, i, right), " "))
	}
	keys := " " + keysLine
	if more := len(r) - s.body(); more > 0 {
		keys += fmt.Sprintf(" • %d more lines", more)
	}
	return strings.Join(append(lines, bar.Render(fit(keys, s.width))), "\n")
}

// line returns line i of some, as wide as the side is.
func line(lines []string, i, width int) string {
	if i >= len(lines) {
		return strings.Repeat(" ", width)
	}
	return fit(lines[i], width)
}

// fit cuts or fills text to a width.
func fit(text string, width int) string {
	text = ansi.Truncate(text, width, "…")
	return text + strings.Repeat(" ", max(width-lipgloss.Width(text), 0))
}

// leftSide lists the steps and says what happens in the current one.
func (s *screen) leftSide(width int) []string {
	var lines []string
	for i, step := range s.steps {
		mark := "  "
		switch {
		case i == s.current:
			mark = "▸ "
		case i < len(s.shown):
			mark = "✓ "
		}
		text := fit(fmt.Sprintf("%s%d %s", mark, i+1, step.Title), width)
		switch {
		case i == s.current:
			text = bold.Render(text)
		case i >= len(s.shown):
			text = faint.Render(text)
		}
		lines = append(lines, text)
	}
	if s.current >= len(s.shown) {
		return append(lines, "", "…")
	}
	for _, b := range s.shown[s.current].blocks {
		if b.Kind == Prose {
			lines = append(lines, "")
			lines = append(lines, strings.Split(wrapped(b.Text, width), "\n")...)
		}
	}
	if err := s.shown[s.current].err; err != nil {
		lines = append(lines, "")
		lines = append(lines, strings.Split(wrapped("It failed: "+prompt.Text(err.Error()), width), "\n")...)
	}
	return lines
}

// rightSide is all that the current step shows beside its text: the diagram, what
// went over the wire, and last the commands that do the same.
func (s *screen) rightSide(width int) []string {
	if s.current >= len(s.shown) {
		return nil
	}
	var lines []string
	add := func(kinds ...Kind) {
		for _, b := range s.shown[s.current].blocks {
			if !slices.Contains(kinds, b.Kind) {
				continue
			}
			if len(lines) > 0 {
				lines = append(lines, "")
			}
			for text := range strings.SplitSeq(b.text(width), "\n") {
				if b.Kind == Picture {
					lines = append(lines, text)
					continue
				}
				lines = append(lines, strings.Split(ansi.Hardwrap(text, width, true), "\n")...)
			}
		}
	}
	add(Picture)
	add(Wire, Output)
	add(Command)
	return lines
}

// mostScroll is how far the right side can be scrolled.
func (s *screen) mostScroll() int {
	_, right := s.columns()
	return max(len(s.rightSide(right))-s.body(), 0)
}
