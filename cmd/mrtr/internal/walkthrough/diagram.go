package walkthrough

import (
	"fmt"
	"strings"
)

// Diagram is who says what to whom, in order of time.
type Diagram struct {
	Parties []string // from left to right
	Arrows  []Arrow
}

// Arrow is one message. From and To are places in Parties.
type Arrow struct {
	From, To int
	Text     string
}

// clientServer is a diagram of the two; texts alternate, the client's first.
func clientServer(texts ...string) Diagram {
	d := Diagram{Parties: []string{"client", "server"}}
	for i, t := range texts {
		d.Arrows = append(d.Arrows, Arrow{From: i % 2, To: 1 - i%2, Text: t})
	}
	return d
}

// Text draws the diagram with characters, at most width of them in a line where
// the texts allow it.
func (d *Diagram) Text(width int) string {
	gap := max(8, min(46, (width-8)/max(len(d.Parties)-1, 1)))
	at := func(party int) int { return 3 + party*gap }
	var lines []string
	row := func() []rune {
		r := []rune(strings.Repeat(" ", at(len(d.Parties)-1)+4))
		for i := range d.Parties {
			r[at(i)] = '│'
		}
		return r
	}
	add := func(r []rune) { lines = append(lines, strings.TrimRight(string(r), " ")) }
	head := []rune(strings.Repeat(" ", at(len(d.Parties)-1)+24))
	for i, p := range d.Parties {
		copy(head[max(at(i)-len([]rune(p))/2, 0):], []rune(p))
	}
	add(head)
	for _, a := range d.Arrows {
		left, right := at(min(a.From, a.To)), at(max(a.From, a.To))
		label := row()
		text := []rune(a.Text)
		if room := right - left - 3; len(text) > room {
			text = append(text[:max(room-1, 0)], '…')
		}
		for i := left + 1; i < right; i++ { // it passes in front of those between
			label[i] = ' '
		}
		copy(label[left+2:], text)
		add(label)
		line := row()
		for i := left + 1; i < right; i++ {
			line[i] = '─'
		}
		if a.To > a.From {
			line[right-1] = '▶'
		} else {
			line[left+1] = '◀'
		}
		add(line)
	}
	return strings.Join(lines, "\n")
}

// Mermaid writes the diagram as a Mermaid sequence diagram.
func (d *Diagram) Mermaid() string {
	var b strings.Builder
	b.WriteString("sequenceDiagram\n")
	for i, p := range d.Parties {
		fmt.Fprintf(&b, "    participant p%d as %s\n", i, p)
	}
	for _, a := range d.Arrows {
		arrow := "->>"
		if a.To < a.From {
			arrow = "-->>"
		}
		fmt.Fprintf(&b, "    p%d%sp%d: %s\n", a.From, arrow, a.To, strings.NewReplacer(";", ",", "#", "").Replace(a.Text))
	}
	return b.String()
}
