package jsonrpc_test

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
)

type member struct{ name, value string }

func members(t *testing.T, object string, opts ...jsontext.Options) ([]member, error) {
	var out []member
	err := jsonrpc.Members([]byte(object), func(name string, v jsontext.Value) error {
		require.Equal(t, len(v), cap(v), "appending to a value must not write into the object")
		out = append(out, member{name, string(v)})
		return nil
	}, opts...)
	return out, err
}

func TestMembers(t *testing.T) {
	for _, tt := range []struct {
		object string
		want   []member
	}{
		{`{}`, nil},
		{` { } `, nil},
		{`{"a":1}`, []member{{"a", `1`}}},
		{` { "b" : [ 1 , {} ] , "a" : null , "" : "x" } `, []member{{"b", `[ 1 , {} ]`}, {"a", `null`}, {"", `"x"`}}},
		{`{"\u0061\n":{"a":{"b":[{}]}}}`, []member{{"a\n", `{"a":{"b":[{}]}}`}}},
		{`{"n":9007199254740993,"e":1e3,"🙂":"\ud83d\ude42"}`, []member{{"n", `9007199254740993`}, {"e", `1e3`}, {"🙂", `"\ud83d\ude42"`}}},
	} {
		t.Run(tt.object, func(t *testing.T) {
			got, err := members(t, tt.object)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
	for _, object := range []string{``, ` `, `1`, `null`, `[]`, `[{"a":1}]`, `{`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1}{}`, `{"a":1}x`, `{"a":1 "b":2}`, `{a:1}`, `{"a":1,"a":2}`, "{\"a\":\"\xff\"}"} {
		t.Run("refused "+object, func(t *testing.T) {
			_, err := members(t, object)
			require.Error(t, err)
		})
	}
	t.Run("duplicates where they are allowed", func(t *testing.T) {
		got, err := members(t, `{"a":1,"a":2}`, jsontext.AllowDuplicateNames(true))
		require.NoError(t, err)
		require.Equal(t, []member{{"a", `1`}, {"a", `2`}}, got)
		_, err = members(t, `{"a":1,"a":2}`)
		require.Error(t, err, "an option does not outlive its call")
	})
	t.Run("stops at an error", func(t *testing.T) {
		stop, calls := errors.New("stop"), 0
		err := jsonrpc.Members([]byte(`{"a":1,"b":2}`), func(string, jsontext.Value) error { calls++; return stop })
		require.Equal(t, stop, err)
		require.Equal(t, 1, calls)
	})
	t.Run("within each other", func(t *testing.T) {
		var got []string
		err := jsonrpc.Members([]byte(`{"a":{"b":1},"c":{"d":2}}`), func(name string, v jsontext.Value) error {
			got = append(got, name)
			return jsonrpc.Members(v, func(name string, v jsontext.Value) error {
				got = append(got, name+string(v))
				return nil
			})
		})
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b1", "c", "d2"}, got)
	})
}
