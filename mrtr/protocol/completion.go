package protocol

import "github.com/go-json-experiment/json/jsontext"

// The types of a [CompletionReference].
const (
	RefPrompt   = "ref/prompt"
	RefResource = "ref/resource"
)

// CompleteParams are the params of completion/complete (Completion,
// CompleteRequest): the values wanted for one argument of a prompt or of a
// resource template.
type CompleteParams struct {
	Ref      CompletionReference `json:"ref"`
	Argument CompletionArgument  `json:"argument"`
	Context  *CompletionContext  `json:"context,omitzero"`
	Meta     Object              `json:"_meta,omitzero"`
}

// CompletionReference names what an argument belongs to (Completion, Reference
// Types): a prompt by Name, or a resource template by URI.
type CompletionReference struct {
	Type  string `json:"type"`           // RefPrompt or RefResource
	Name  string `json:"name,omitzero"`  // RefPrompt
	Title string `json:"title,omitzero"` // RefPrompt
	URI   string `json:"uri,omitzero"`   // RefResource: a URI or URI template
}

// CompletionArgument is the argument to complete and what was typed so far.
type CompletionArgument struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// CompletionContext holds the arguments that have their values already.
type CompletionContext struct {
	Arguments map[string]string `json:"arguments,omitzero"`
}

// CompleteResult answers completion/complete.
type CompleteResult struct {
	ResultType ResultType     `json:"resultType,omitzero"`
	Completion Completion     `json:"completion"`
	Meta       Object         `json:"_meta,omitzero"`
	Other      jsontext.Value `json:",embed"`
}

// Completion is the values found, best first (Completion, Completion Results).
type Completion struct {
	Values  []string `json:"values"`           // at most 100
	Total   *int     `json:"total,omitzero"`   // how many there are; nil: not known
	HasMore *bool    `json:"hasMore,omitzero"` // whether there are more than Values; nil: not said
}
