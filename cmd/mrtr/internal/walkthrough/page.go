package walkthrough

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/cmd/mrtr/internal/prompt"
)

const pageHead = `# How a call that asks back works

Made by ` + "`mrtr demo --doc md`" + ` from the steps of the demo and the answers of a real endpoint. Do not edit.

With ` + "`make run`" + ` in another terminal, the commands below can be pasted into a shell, in order; ` + "`go install ./cmd/mrtr`" + `
installs the one that is not curl. They keep the last state in the variable ` + "`state`" + ` and the last reply in the file
` + "`reply.json`" + `. The replies are spread over lines, and a state is shown by its length. ` + "`mrtr demo`" + ` walks through the same
steps in the terminal, ` + "`mrtr demo --tui`" + ` on the full screen.
`

// Page runs all steps against a fresh embedded endpoint and returns the page of
// documentation, in Markdown.
func Page(ctx context.Context, o Options) (string, error) {
	o.Page, o.URL, o.Client = true, "", nil
	g, err := NewGuide(o)
	if err != nil {
		return "", err
	}
	defer g.Close()
	var b strings.Builder
	b.WriteString(pageHead)
	for i, s := range Steps() {
		blocks, err := g.Run(ctx, s)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n## %d. %s\n", i+1, s.Title)
		for _, block := range blocks {
			if !block.InCommand {
				b.WriteString("\n" + block.markdown())
			}
		}
	}
	return b.String(), nil
}

// markdown returns a block for the page.
func (b *Block) markdown() string {
	label := ""
	if b.Label != "" {
		label = strings.ToUpper(b.Label[:1]) + b.Label[1:] + ":\n\n"
	}
	fence := func(language, text string) string {
		return fmt.Sprintf("%s```%s\n%s\n```\n", label, language, strings.TrimRight(text, "\n"))
	}
	switch b.Kind {
	case Prose:
		return wrapped(b.Text, 120) + "\n"
	case Picture:
		return fence("mermaid", b.Diagram.Mermaid())
	case Command:
		return fence("sh", b.Text)
	case Wire:
		return fence("json", prompt.JSON(jsontext.Value(b.Text), 120))
	}
	return fence("text", b.Text)
}
