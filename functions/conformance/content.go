package main

import (
	"context"
	"encoding/base64"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/conformance/fixture"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

type handler = func(context.Context, *mrtr.Call, fixture.Input) (*mrtr.Result, error)

// add adds a tool that takes any object.
func add(s *mrtr.Server, name, description string, handle handler) {
	mrtr.AddTool(s, mrtr.Tool{Name: name, Description: description, InputSchema: jsontext.Value(`{"type":"object"}`)}, handle)
}

// addContentTools adds a tool for each kind of content.
func addContentTools(s *mrtr.Server) {
	text := func(text string) protocol.Content { return protocol.Text(text) }
	image := func() protocol.Content { return &protocol.ImageContent{Data: pixel(), MIMEType: "image/png"} }
	resource := func(uri, mimeType, text string) protocol.Content {
		return &protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: uri, MIMEType: mimeType, Text: text}}
	}
	for _, t := range []struct {
		name, description string
		content           protocol.ContentList
	}{
		{"test_simple_text", "Returns a text.", protocol.ContentList{text("This is a simple text response for testing.")}},
		{"test_image_content", "Returns an image.", protocol.ContentList{image()}},
		{"test_audio_content", "Returns a sound.", protocol.ContentList{&protocol.AudioContent{Data: silence(), MIMEType: "audio/wav"}}},
		{"test_embedded_resource", "Returns a resource with its contents.", protocol.ContentList{
			resource("test://embedded-resource", "text/plain", "This is an embedded resource content."),
		}},
		{"test_multiple_content_types", "Returns a text, an image and a resource.", protocol.ContentList{
			text("Multiple content types test:"), image(),
			resource("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`),
		}},
	} {
		add(s, t.name, t.description, func(context.Context, *mrtr.Call, fixture.Input) (*mrtr.Result, error) {
			return &mrtr.Result{Content: t.content}, nil
		})
	}
	add(s, "test_error_handling", "Fails, and says so.", func(context.Context, *mrtr.Call, fixture.Input) (*mrtr.Result, error) {
		return nil, mrtr.Errorf("This tool intentionally returns an error for testing")
	})
}

// pixel is a PNG of one red pixel.
func pixel() []byte {
	return decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABAQMAAAAl21bKAAAAA1BMVEXIHh4WiPieAAAADklEQVR42mJgAAQAAP//AAIAAVbTZ+kAAAAASUVORK5CYII=")
}

// silence is a WAV of 2 ms.
func silence() []byte {
	return decode("UklGRjQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YRAAAACAgICAgICAgICAgICAgICA")
}

func decode(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic("conformance: " + err.Error())
	}
	return b
}
