package protocol_test

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

func TestLoggingLevelOrder(t *testing.T) {
	levels := []protocol.LoggingLevel{
		"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency",
	}
	for i, l := range levels {
		require.True(t, l.Known())
		for j, least := range levels {
			require.Equal(t, i >= j, l.AtLeast(least), "%s at least %s", l, least)
		}
		require.False(t, l.AtLeast("verbose"))
		require.False(t, protocol.LoggingLevel("verbose").AtLeast(l))
	}
	for _, l := range []protocol.LoggingLevel{"", "verbose", "Debug"} {
		require.False(t, l.Known(), l)
		require.False(t, l.AtLeast(l), l)
	}
}

// The handshake era's results are the same types without the members that came
// later.
func TestHandshakeResults(t *testing.T) {
	for _, tt := range []struct {
		result any
		wire   string
	}{
		{protocol.ListToolsResult{}, `{"tools":[]}`},
		{protocol.ListPromptsResult{}, `{"prompts":[]}`},
		{protocol.ListResourcesResult{}, `{"resources":[]}`},
		{protocol.ListResourceTemplatesResult{}, `{"resourceTemplates":[]}`},
		{protocol.ReadResourceResult{}, `{"contents":[]}`},
		{protocol.GetPromptResult{}, `{"messages":[]}`},
		{protocol.CompleteResult{}, `{"completion":{"values":[]}}`},
	} {
		require.Equal(t, tt.wire, marshal(t, tt.result))
	}
}

func TestCacheHints(t *testing.T) {
	r := protocol.ListToolsResult{
		ResultType: protocol.ResultComplete,
		Cache:      &protocol.CacheHints{TTLMs: 0, Scope: protocol.CachePrivate},
	}
	const wire = `{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}`
	require.Equal(t, wire, marshal(t, r))
	var back protocol.ListToolsResult
	require.NoError(t, json.Unmarshal([]byte(wire), &back))
	require.Equal(t, r.Cache, back.Cache)
	require.Nil(t, back.Other)
}

func TestToolAnnotations(t *testing.T) {
	require.Equal(t, `{}`, marshal(t, protocol.ToolAnnotations{}))
	const wire = `{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`
	a := protocol.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: new(false), IdempotentHint: true, OpenWorldHint: new(false)}
	require.Equal(t, wire, marshal(t, a))
	var back protocol.ToolAnnotations
	require.NoError(t, json.Unmarshal([]byte(wire), &back))
	require.Equal(t, a, back)
}

func TestErrorData(t *testing.T) {
	require.Equal(t, `{"restart":true}`, marshal(t, protocol.RestartData{Restart: true}))
	require.Equal(t, `{"uri":"file:///x"}`, marshal(t, protocol.ResourceNotFoundData{URI: "file:///x"}))
	require.Equal(t, `{"requiredCapabilities":{"elicitation":{"url":{}}}}`,
		marshal(t, protocol.MissingRequiredClientCapabilityData{RequiredCapabilities: protocol.ClientCapabilities{
			Elicitation: &protocol.ElicitationCapability{URL: protocol.Object{}},
		}}))
}
