package protocol

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The types of content, as its "type" member names them.
const (
	TypeText         = "text"
	TypeImage        = "image"
	TypeAudio        = "audio"
	TypeResourceLink = "resource_link"
	TypeResource     = "resource"
	TypeToolUse      = "tool_use"    // sampling only
	TypeToolResult   = "tool_result" // sampling only
)

// Content is one block of content: a [*TextContent], [*ImageContent],
// [*AudioContent], [*ResourceLink], [*EmbeddedResource], [*ToolUseContent],
// [*ToolResultContent], or [*UnknownContent] for any other type (schema:
// ContentBlock, SamplingMessageContentBlock).
type Content interface {
	// ContentType returns the block's "type" member.
	ContentType() string

	isContent()
}

var (
	_ Content = (*TextContent)(nil)
	_ Content = (*ImageContent)(nil)
	_ Content = (*AudioContent)(nil)
	_ Content = (*ResourceLink)(nil)
	_ Content = (*EmbeddedResource)(nil)
	_ Content = (*ToolUseContent)(nil)
	_ Content = (*ToolResultContent)(nil)
	_ Content = (*UnknownContent)(nil)
)

var errNoContentType = errors.New("protocol: content is not an object with a string member \"type\"")

// ContentList is content in order. Nil is written as [].
type ContentList []Content

// UnmarshalJSONFrom reads an array of content, or null as nil.
func (l *ContentList) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var err error
	*l, err = readContents(dec, newContent)
	return err
}

// UnknownContent is a block of a type that this package does not know. It is
// written as it came.
type UnknownContent struct {
	Type string
	Raw  jsontext.Value // the whole object
}

func (c *UnknownContent) ContentType() string { return c.Type }
func (*UnknownContent) isContent()            {}

// MarshalJSONTo writes Raw.
func (c *UnknownContent) MarshalJSONTo(enc *jsontext.Encoder) error { return enc.WriteValue(c.Raw) }

// singleContent decodes one block where a field holds exactly one.
type singleContent struct{ Content }

func (s *singleContent) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == 'n' {
		s.Content = nil
		return dec.SkipValue()
	}
	var err error
	s.Content, err = readContent(dec, newContent)
	return err
}

// flatContents decodes what a tool_result holds. Tool uses and tool results
// have no place in there and stay raw, which bounds how deep decoding nests.
type flatContents []Content

func (l *flatContents) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var err error
	*l, err = readContents(dec, newFlatContent)
	return err
}

func readContents(dec *jsontext.Decoder, block func(string) Content) ([]Content, error) {
	switch k := dec.PeekKind(); k {
	case 'n':
		return nil, dec.SkipValue()
	case '[':
	default:
		return nil, wrongKind(dec, k)
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	blocks := []Content{}
	for dec.PeekKind() != ']' {
		c, err := readContent(dec, block)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, c)
	}
	_, err := dec.ReadToken()
	return blocks, err
}

// readContent reads one block: first its type, then, over the same bytes, what
// block returns for that type. Where that is nil the block stays raw.
func readContent(dec *jsontext.Decoder, block func(string) Content) (Content, error) {
	raw, err := dec.ReadValue()
	if err != nil {
		return nil, err
	}
	var head struct {
		Type *string `json:"type"`
	}
	if err := json.Unmarshal(raw, &head, dec.Options()); err != nil || head.Type == nil {
		return nil, errNoContentType
	}
	c := block(*head.Type)
	if c == nil {
		return &UnknownContent{Type: *head.Type, Raw: raw.Clone()}, nil
	}
	return c, json.Unmarshal(raw, c, dec.Options())
}

func newContent(typ string) Content {
	switch typ {
	case TypeToolUse:
		return new(ToolUseContent)
	case TypeToolResult:
		return new(ToolResultContent)
	}
	return newFlatContent(typ)
}

func newFlatContent(typ string) Content {
	switch typ {
	case TypeText:
		return new(TextContent)
	case TypeImage:
		return new(ImageContent)
	case TypeAudio:
		return new(AudioContent)
	case TypeResourceLink:
		return new(ResourceLink)
	case TypeResource:
		return new(EmbeddedResource)
	}
	return nil
}
