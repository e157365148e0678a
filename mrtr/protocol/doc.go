// Package protocol is the vocabulary of the Model Context Protocol, revision
// 2026-07-28, as Go types: content, tools, prompts, resources, elicitation,
// sampling, roots, capabilities, and the shapes around them. The names are the
// specification's; comments name the section a type comes from.
//
// The types are data. They carry json tags for
// github.com/go-json-experiment/json, whose decoder matches names by case and
// refuses duplicates and invalid UTF-8; nothing here checks more than decoding
// needs. A value that is read while nobody writes to it may be shared.
//
// Optional members are left out when they are zero. Where zero and absent mean
// different things the field is a pointer, a nil-able map or raw JSON, and nil
// is absent. A field named Other holds the members of an object that the
// specification leaves open; it is nil or a JSON object.
package protocol
