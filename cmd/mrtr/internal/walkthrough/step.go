package walkthrough

import "context"

// Step is one part of the walkthrough.
type Step struct {
	Title string
	// Embedded: the step needs what only the embedded endpoint has, such as a
	// clock that can be moved.
	Embedded bool
	run      func(context.Context, *Guide) ([]Block, error)
}

// Steps returns the walkthrough, in order. A step may go on from the one before.
func Steps() []Step {
	return []Step{
		{"Connect", false, connect},
		{"Round 1, by hand", false, roundOne},
		{"The automatic loop", false, loop},
		{"Answers add up", false, accumulate},
		{"One trace, all rounds", false, traced},
		{"A flipped character", false, flipped},
		{"Swapped arguments", false, swapped},
		{"An expired state", true, expired},
		{"A new process a round", true, processes},
	}
}

// Kind says what a block is.
type Kind int

// The kinds of blocks.
const (
	Prose   Kind = iota // a paragraph
	Picture             // a diagram
	Command             // for a shell
	Wire                // JSON
	Output              // lines that a program wrote
)

// Block is a part of what a step shows.
type Block struct {
	Kind    Kind
	Label   string   // of Wire and Output: what it is
	Text    string   // all but Picture
	Diagram *Diagram // of Picture
	// InCommand: the command above has it too, so a page leaves it out.
	InCommand bool
}

func prose(text string) Block { return Block{Kind: Prose, Text: text} }

func picture(d Diagram) Block { return Block{Kind: Picture, Diagram: &d} }

func output(label, text string) Block { return Block{Kind: Output, Label: label, Text: text} }
