package protocol_test

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

func TestInputRequiredResult(t *testing.T) {
	r := protocol.InputRequiredResult{
		ResultType: protocol.ResultInputRequired,
		InputRequests: protocol.InputRequests{
			{Key: "z", Method: protocol.MethodElicit, Params: jsontext.Value(`{"message":"m"}`)},
			{Key: "a", Method: protocol.MethodListRoots},
		},
		RequestState: "s",
	}
	const wire = `{"resultType":"input_required","inputRequests":{"z":{"method":"elicitation/create","params":{"message":"m"}},` +
		`"a":{"method":"roots/list"}},"requestState":"s"}`
	require.Equal(t, wire, marshal(t, r))
	var back protocol.InputRequiredResult
	require.NoError(t, json.Unmarshal([]byte(wire), &back))
	require.Equal(t, r, back)

	require.Equal(t, `{"resultType":"input_required","requestState":"s"}`,
		marshal(t, protocol.InputRequiredResult{ResultType: protocol.ResultInputRequired, RequestState: "s"}))
}

func TestObjectsAreWrittenInOrder(t *testing.T) {
	in := []byte(`{"c":1.0,"a":{"y":1,"x":2},"b":9007199254740993}`)
	const out = `{"a":{"y":1,"x":2},"b":9007199254740993,"c":1.0}`
	var o protocol.Object
	require.NoError(t, json.Unmarshal(in, &o))
	var r protocol.InputResponses
	require.NoError(t, json.Unmarshal(in, &r))
	clear(in) // neither shares the input's bytes
	for range 10 {
		require.Equal(t, out, marshal(t, o))
		require.Equal(t, out, marshal(t, r))
	}
	require.Equal(t, `{"a":null}`, marshal(t, protocol.Object{"a": nil}))
}

func TestInputResponsesDecode(t *testing.T) {
	var r protocol.InputResponses
	require.NoError(t, json.Unmarshal([]byte("null"), &r))
	require.Nil(t, r)
	require.NoError(t, json.Unmarshal([]byte("{}"), &r))
	require.NotNil(t, r)
	for _, in := range []string{`[]`, `"x"`, `1`, `true`, `{"a"}`, `{"a":}`, `{"a":1`, "{\"\xff\":1}", ``} {
		require.Error(t, json.Unmarshal([]byte(in), &r), in)
	}
}

// FuzzInputResponses holds that decoding never panics and that what it accepts
// comes out as the value that went in.
func FuzzInputResponses(f *testing.F) {
	for _, seed := range []string{
		`{"github_login":{"action":"accept","content":{"name":"octocat"}},"roots":{"roots":[]}}`,
		`{"a":{"action":"decline"},"":null,"\u0000":1e400}`,
		`{"a":[[[[[[[[]]]]]]]],"b":"\ud800"}`,
		`{"a":1,"a":2}`,
		`[]`,
		`null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var r protocol.InputResponses
		if json.Unmarshal(in, &r) != nil || r == nil {
			return
		}
		out, err := json.Marshal(r)
		require.NoError(t, err)
		require.Equal(t, compact(t, in, len(r)), compact(t, out, len(r)))
		var asked protocol.InputRequests
		if json.Unmarshal(in, &asked) == nil {
			_, err := json.Marshal(asked)
			require.NoError(t, err)
		}
		for _, v := range r {
			_ = json.Unmarshal(v, new(protocol.ElicitResult))
			_ = json.Unmarshal(v, new(protocol.CreateMessageResult))
			_ = json.Unmarshal(v, new(protocol.ListRootsResult))
		}
	})
}

// compact returns v with its members in one order and its numbers as written.
func compact(t *testing.T, v []byte, members int) string {
	t.Helper()
	out := jsontext.Value(bytes.Clone(v))
	require.NoError(t, out.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)))
	var m map[string]jsontext.Value
	require.NoError(t, json.Unmarshal(out, &m))
	require.Len(t, m, members)
	return string(out)
}
