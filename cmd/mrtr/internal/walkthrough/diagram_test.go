package walkthrough

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDiagram(t *testing.T) {
	d := Diagram{Parties: []string{"client", "one", "two"}, Arrows: []Arrow{{0, 1, "call"}, {1, 0, "a text that is too long"}, {0, 2, "answer"}, {2, 0, "done"}}}
	require.Equal(t, strings.Trim(`
client           one            two
   │ call         │              │
   │─────────────▶│              │
   │ a text that… │              │
   │◀─────────────│              │
   │ answer                      │
   │────────────────────────────▶│
   │ done                        │
   │◀────────────────────────────│`, "\n"), d.Text(38))
	require.Equal(t, `sequenceDiagram
    participant p0 as client
    participant p1 as one
    participant p2 as two
    p0->>p1: call
    p1-->>p0: a text that is too long
    p0->>p2: answer
    p2-->>p0: done
`, d.Mermaid())
	for width := range 200 {
		for line := range strings.SplitSeq(d.Text(width), "\n") {
			require.NotEmpty(t, line)
		}
	}
}
