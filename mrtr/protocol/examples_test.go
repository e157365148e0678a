package protocol_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

const examplesFolder = "examples-2026-07-28"

// specDir returns the folder with the specification's files: MRTR_SPEC_DIR, or
// the one beside the checkout. Where there is none the test is skipped, in CI
// it fails; a folder that was named must be there.
func specDir(t *testing.T) string {
	t.Helper()
	dir, named := os.LookupEnv("MRTR_SPEC_DIR")
	if !named {
		dir = filepath.Join("..", "..", "..", "shared", "spec")
	}
	if _, err := os.Stat(filepath.Join(dir, examplesFolder)); err != nil {
		if named || os.Getenv("CI") == "true" {
			require.NoError(t, err, "set MRTR_SPEC_DIR to the folder that holds %s", examplesFolder)
		}
		t.Skipf("no specification beside the checkout: set MRTR_SPEC_DIR to the folder that holds %s", examplesFolder)
	}
	return dir
}

// at returns the value at the end of a path of member names.
func at(t *testing.T, v jsontext.Value, path ...string) jsontext.Value {
	t.Helper()
	for _, name := range path {
		var m map[string]jsontext.Value
		require.NoError(t, json.Unmarshal(v, &m))
		require.Contains(t, m, name)
		v = m[name]
	}
	return v
}

func canonical(t *testing.T, v jsontext.Value) string {
	t.Helper()
	v = v.Clone()
	require.NoError(t, v.Canonicalize())
	return string(v)
}

// typed says which type each folder of examples is decoded into, and where in
// the message that type stands.
var typed = map[string]struct {
	new  func() any
	path string
}{
	"AudioContent":                         {blockPtr, ""},
	"BlobResourceContents":                 {ptr[protocol.ResourceContents], ""},
	"BooleanSchema":                        {schemaPtr, ""},
	"CallToolResult":                       {ptr[protocol.CallToolResult], ""},
	"CallToolResultResponse":               {ptr[protocol.CallToolResult], "result"},
	"ClientCapabilities":                   {ptr[protocol.ClientCapabilities], ""},
	"CompleteRequest":                      {ptr[protocol.CompleteParams], "params"},
	"CompleteRequestParams":                {ptr[protocol.CompleteParams], ""},
	"CompleteResult":                       {ptr[protocol.CompleteResult], ""},
	"CompleteResultResponse":               {ptr[protocol.CompleteResult], "result"},
	"CreateMessageRequest":                 {ptr[protocol.CreateMessageParams], "params"},
	"CreateMessageRequestParams":           {ptr[protocol.CreateMessageParams], ""},
	"CreateMessageResult":                  {ptr[protocol.CreateMessageResult], ""},
	"DiscoverResult":                       {ptr[protocol.DiscoverResult], ""},
	"DiscoverResultResponse":               {ptr[protocol.DiscoverResult], "result"},
	"ElicitRequest":                        {ptr[protocol.ElicitFormParams], "params"},
	"ElicitRequestFormParams":              {ptr[protocol.ElicitFormParams], ""},
	"ElicitRequestURLParams":               {ptr[protocol.ElicitURLParams], ""},
	"ElicitResult":                         {ptr[protocol.ElicitResult], ""},
	"EmbeddedResource":                     {blockPtr, ""},
	"GetPromptResult":                      {ptr[protocol.GetPromptResult], ""},
	"GetPromptResultResponse":              {ptr[protocol.GetPromptResult], "result"},
	"ImageContent":                         {blockPtr, ""},
	"InputRequests":                        {ptr[protocol.InputRequests], ""},
	"InputRequiredResult":                  {ptr[protocol.InputRequiredResult], ""},
	"InputResponses":                       {ptr[protocol.InputResponses], ""},
	"ListPromptsResult":                    {ptr[protocol.ListPromptsResult], ""},
	"ListPromptsResultResponse":            {ptr[protocol.ListPromptsResult], "result"},
	"ListResourceTemplatesResult":          {ptr[protocol.ListResourceTemplatesResult], ""},
	"ListResourceTemplatesResultResponse":  {ptr[protocol.ListResourceTemplatesResult], "result"},
	"ListResourcesResult":                  {ptr[protocol.ListResourcesResult], ""},
	"ListResourcesResultResponse":          {ptr[protocol.ListResourcesResult], "result"},
	"ListRootsResult":                      {ptr[protocol.ListRootsResult], ""},
	"ListToolsResult":                      {ptr[protocol.ListToolsResult], ""},
	"ListToolsResultResponse":              {ptr[protocol.ListToolsResult], "result"},
	"LoggingMessageNotification":           {ptr[protocol.LoggingMessageParams], "params"},
	"LoggingMessageNotificationParams":     {ptr[protocol.LoggingMessageParams], ""},
	"MissingRequiredClientCapabilityError": {ptr[protocol.MissingRequiredClientCapabilityData], "error.data"},
	"ModelPreferences":                     {ptr[protocol.ModelPreferences], ""},
	"NumberSchema":                         {schemaPtr, ""},
	"ProgressNotification":                 {ptr[protocol.ProgressParams], "params"},
	"ProgressNotificationParams":           {ptr[protocol.ProgressParams], ""},
	"ReadResourceResult":                   {ptr[protocol.ReadResourceResult], ""},
	"ReadResourceResultResponse":           {ptr[protocol.ReadResourceResult], "result"},
	"Resource":                             {ptr[protocol.Resource], ""},
	"ResourceLink":                         {blockPtr, ""},
	"Root":                                 {ptr[protocol.Root], ""},
	"SamplingMessage":                      {ptr[protocol.SamplingMessage], ""},
	"ServerCapabilities":                   {ptr[protocol.ServerCapabilities], ""},
	"StringSchema":                         {schemaPtr, ""},
	"TextContent":                          {blockPtr, ""},
	"TextResourceContents":                 {ptr[protocol.ResourceContents], ""},
	"TitledMultiSelectEnumSchema":          {schemaPtr, ""},
	"TitledSingleSelectEnumSchema":         {schemaPtr, ""},
	"Tool":                                 {ptr[protocol.Tool], ""},
	"ToolResultContent":                    {blockPtr, ""},
	"ToolUseContent":                       {blockPtr, ""},
	"UnsupportedProtocolVersionError":      {ptr[protocol.UnsupportedProtocolVersionData], "error.data"},
	"UntitledMultiSelectEnumSchema":        {schemaPtr, ""},
	"UntitledSingleSelectEnumSchema":       {schemaPtr, ""},
}

// untyped are the folders whose messages have no type here: envelopes, errors
// without data of ours, request params that only a server reads, subscriptions.
var untyped = []string{
	"CallToolRequest", "CallToolRequestParams", "CancelledNotification", "CancelledNotificationParams",
	"DiscoverRequest", "GetPromptRequest", "GetPromptRequestParams", "HeaderMismatchError", "InternalError",
	"InvalidParamsError", "ListPromptsRequest", "ListResourceTemplatesRequest", "ListResourcesRequest",
	"ListRootsRequest", "ListToolsRequest", "MethodNotFoundError", "PaginatedRequestParams", "ParseError",
	"PromptListChangedNotification", "ReadResourceRequest", "ResourceListChangedNotification",
	"ResourceUpdatedNotification", "ResourceUpdatedNotificationParams", "SubscriptionsAcknowledgedNotification",
	"SubscriptionsListenRequest", "SubscriptionsListenResult", "SubscriptionsListenResultResponse",
	"ToolListChangedNotification",
}

func ptr[T any]() any { return new(T) }

// blockPtr and schemaPtr decode one block or schema the way lists do.
func blockPtr() any  { return new(oneBlock) }
func schemaPtr() any { return new(oneSchema) }

type oneBlock struct{ list protocol.ContentList }

func (b *oneBlock) UnmarshalJSON(v []byte) error {
	return json.Unmarshal([]byte("["+string(v)+"]"), &b.list)
}
func (b *oneBlock) MarshalJSON() ([]byte, error) { return json.Marshal(b.list[0]) }

type oneSchema struct{ fields protocol.Properties }

func (s *oneSchema) UnmarshalJSON(v []byte) error {
	return json.Unmarshal([]byte(`{"field":`+string(v)+"}"), &s.fields)
}
func (s *oneSchema) MarshalJSON() ([]byte, error) { return json.Marshal(s.fields[0].Schema) }

func TestExamplesRoundTrip(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(specDir(t), examplesFolder, "*", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)

	seen := map[string]bool{}
	for _, f := range files {
		folder := filepath.Base(filepath.Dir(f))
		seen[folder] = true
		kind, ok := typed[folder]
		if !ok {
			require.Contains(t, untyped, folder, "a folder of examples without a type")
			continue
		}
		t.Run(folder+"/"+filepath.Base(f), func(t *testing.T) {
			b, err := os.ReadFile(f)
			require.NoError(t, err)
			in := jsontext.Value(b)
			if kind.path != "" {
				in = at(t, in, strings.Split(kind.path, ".")...)
			}
			v := kind.new()
			require.NoError(t, json.Unmarshal(in, v))
			requireKnown(t, v)
			out, err := json.Marshal(v)
			require.NoError(t, err)
			// Absent means false (schema: CallToolResult.isError).
			want := canonical(t, in)
			if _, ok := v.(*protocol.CallToolResult); ok {
				want = strings.Replace(want, `"isError":false,`, "", 1)
			}
			require.Equal(t, want, canonical(t, out))
		})
	}
	for folder := range typed {
		require.True(t, seen[folder], "no examples of %s", folder)
	}
	for _, folder := range untyped {
		require.True(t, seen[folder], "no examples of %s", folder)
	}
}

// requireKnown fails where an example only survived as raw JSON.
func requireKnown(t *testing.T, v any) {
	t.Helper()
	switch v := v.(type) {
	case *oneBlock:
		_, unknown := v.list[0].(*protocol.UnknownContent)
		require.False(t, unknown)
	case *oneSchema:
		_, unknown := v.fields[0].Schema.(*protocol.UnknownSchema)
		require.False(t, unknown)
	default:
		if s := reflect.ValueOf(v).Elem(); s.Kind() == reflect.Struct {
			if other := s.FieldByName("Other"); other.IsValid() {
				require.Empty(t, other.Interface(), "members without a field")
			}
		}
	}
}

// The requests and answers inside the examples are kept raw; they decode too.
func TestExamplesInside(t *testing.T) {
	read := func(name string, v any) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(specDir(t), examplesFolder, name))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, v))
	}
	var asked protocol.InputRequests
	read("InputRequests/elicitation-and-sampling-input-requests.json", &asked)
	require.Len(t, asked, 2)

	login, ok := asked.Get("github_login")
	require.True(t, ok)
	require.Equal(t, protocol.MethodElicit, login.Method)
	var form protocol.ElicitFormParams
	require.NoError(t, json.Unmarshal(login.Params, &form))
	require.Equal(t, protocol.FormSchema{
		Properties: protocol.Properties{{"name", &protocol.StringSchema{}}},
		Required:   []string{"name"},
	}, form.RequestedSchema)

	capital, ok := asked.Get("capital_of_france")
	require.True(t, ok)
	require.Equal(t, protocol.MethodCreateMessage, capital.Method)
	var sampling protocol.CreateMessageParams
	require.NoError(t, json.Unmarshal(capital.Params, &sampling))
	require.Equal(t, protocol.SamplingContent{protocol.Text("What is the capital of France?")}, sampling.Messages[0].Content)

	_, ok = asked.Get("nothing")
	require.False(t, ok)

	var answers protocol.InputResponses
	read("InputResponses/elicitation-and-sampling-input-responses.json", &answers)
	var filled protocol.ElicitResult
	require.NoError(t, json.Unmarshal(answers["github_login"], &filled))
	require.Equal(t, protocol.ElicitAccept, filled.Action)
	require.JSONEq(t, `{"name":"octocat"}`, string(filled.Content))
	var message protocol.CreateMessageResult
	require.NoError(t, json.Unmarshal(answers["capital_of_france"], &message))
	require.Equal(t, "endTurn", message.StopReason)
}
