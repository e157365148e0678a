package main

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// addResources adds the resources and the template.
func addResources(s *mrtr.Server) {
	for _, r := range []struct {
		resource mrtr.Resource
		text     string
		blob     []byte
	}{
		{mrtr.Resource{URI: "test://static-text", Name: "static-text", Description: "A text.", MIMEType: "text/plain"},
			"This is the content of the static text resource.", nil},
		{mrtr.Resource{URI: "test://static-binary", Name: "static-binary", Description: "An image.", MIMEType: "image/png"},
			"", pixel()},
		{mrtr.Resource{URI: "test://watched-resource", Name: "watched-resource", Description: "A text that never changes.", MIMEType: "text/plain"},
			"Watched resource content", nil},
	} {
		mrtr.AddResource(s, r.resource, func(context.Context, *mrtr.Call) ([]protocol.ResourceContents, error) {
			return []protocol.ResourceContents{{URI: r.resource.URI, MIMEType: r.resource.MIMEType, Text: r.text, Blob: r.blob}}, nil
		})
	}
	mrtr.AddResourceTemplate(s, mrtr.ResourceTemplate{
		URITemplate: "test://template/{id}/data", Name: "template", Description: "A resource for each id.", MIMEType: "application/json",
	}, func(_ context.Context, _ *mrtr.Call, uri string, vars map[string]string) ([]protocol.ResourceContents, error) {
		b, err := json.Marshal(struct {
			ID           string `json:"id"`
			TemplateTest bool   `json:"templateTest"`
			Data         string `json:"data"`
		}{vars["id"], true, "Data for ID: " + vars["id"]})
		if err != nil {
			return nil, err
		}
		return []protocol.ResourceContents{{URI: uri, MIMEType: "application/json", Text: string(b)}}, nil
	})
}
