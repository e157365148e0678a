package walkthrough

import (
	"fmt"
	"io"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/cmd/mrtr/internal/prompt"
)

// WriteStep writes a step as text, number n of all, in lines of width where they
// can be broken.
func WriteStep(w io.Writer, n, all int, s Step, blocks []Block, width int) {
	fmt.Fprintf(w, "\n%d/%d  %s\n%s\n", n, all, s.Title, strings.Repeat("═", min(width, 5+len(s.Title))))
	for _, b := range blocks {
		fmt.Fprintf(w, "\n%s\n", b.text(width))
	}
}

// text returns a block as text.
func (b *Block) text(width int) string {
	label := ""
	if b.Label != "" {
		label = "# " + b.Label + "\n"
	}
	switch b.Kind {
	case Prose:
		return strings.TrimRight(wrapped(b.Text, width), "\n")
	case Picture:
		return b.Diagram.Text(width)
	case Command:
		return "$ " + strings.ReplaceAll(b.Text, "\n", "\n  ")
	}
	if b.Kind == Wire {
		return label + prompt.Text(prompt.JSON(jsontext.Value(b.Text), width))
	}
	return label + prompt.Text(b.Text)
}

// wrapped breaks text into lines.
func wrapped(text string, width int) string {
	lines := strings.Split(lipgloss.Wrap(text, max(width, 20), " "), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
