package main

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/conformance/fixture"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
)

// schema202012 has keywords that only JSON Schema 2020-12 as a whole has. The
// suite wants it listed as it is written.
const schema202012 = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {
		"address": {
			"$anchor": "addressDef",
			"type": "object",
			"properties": {"street": {"type": "string"}, "city": {"type": "string"}}
		}
	},
	"properties": {
		"name": {"type": "string"},
		"address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"},
		"email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]},
	"else": {"required": ["email"]},
	"additionalProperties": false
}`

// headerSchema has a parameter of each kind that clients can mirror into a
// header.
const headerSchema = `{
	"type": "object",
	"properties": {
		"region": {"type": "string", "x-mcp-header": "Region"},
		"priority": {"type": "integer", "x-mcp-header": "Priority"},
		"verbose": {"type": "boolean", "x-mcp-header": "Verbose"}
	},
	"required": ["region"]
}`

// addSchemaTools adds the tools whose input schemas are judged.
func addSchemaTools(s *mrtr.Server) {
	mrtr.AddTool(s, mrtr.Tool{
		Name: "json_schema_2020_12_tool", Description: "Takes a person's name, address and one way to be reached.",
		InputSchema: jsontext.Value(schema202012),
	}, func(context.Context, *mrtr.Call, fixture.Input) (*mrtr.Result, error) {
		return mrtr.Text("The arguments fit the schema."), nil
	})
	mrtr.AddTool(s, mrtr.Tool{
		Name: "test_header_parameters", Description: "Takes parameters that travel in headers too.",
		InputSchema: jsontext.Value(headerSchema),
	}, func(_ context.Context, _ *mrtr.Call, in struct {
		Region string `json:"region"`
	}) (*mrtr.Result, error) {
		return mrtr.Textf("Region: %s", in.Region), nil
	})
}
