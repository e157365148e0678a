package jsonrpc_test

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
)

var walked = []string{
	`{}`, ` { } `, `{"a":1}`,
	` { "b" : [ 1 , {} ] , "a" : null , "" : "x" } `,
	`{"\u0061\n":{"a":{"b":[{}]}}}`,
	`{"n":9007199254740993,"e":1e3,"🙂":"\ud83d\ude42"}`,
	`{"a":"\\","b":"\"","c":"\\\"}","d":[["]"],{"}":"{"}],"e":true}`,
	`{"a":-0.5E+7 ,"b":false}`, "{\"a\":\t1\r\n,\"b\":2\n}",
}

// TestWalk holds Walk against Members, which reads every byte.
func TestWalk(t *testing.T) {
	for _, object := range walked {
		t.Run(object, func(t *testing.T) {
			want, err := members(t, object)
			require.NoError(t, err)
			got, err := walk([]byte(object))
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
	for _, object := range []string{``, ` `, `1`, `null`, `[]`, `[{"a":1}]`, `{`, `{"a"}`, `{"a":}`, `{"a":1}{}`, `{"a":1}x`, `{a:1}`, `{"a":1`, `{"a`, `{"`, `{"a":"`, `{"\`} {
		t.Run("refused "+object, func(t *testing.T) {
			_, err := walk([]byte(object))
			require.Error(t, err)
		})
	}
	t.Run("stops at an error", func(t *testing.T) {
		stop, calls := errors.New("stop"), 0
		err := jsonrpc.Walk([]byte(`{"a":1,"b":2}`), func([]byte, jsontext.Value) error { calls++; return stop })
		require.Equal(t, stop, err)
		require.Equal(t, 1, calls)
	})
	t.Run("values keep to themselves", func(t *testing.T) {
		require.NoError(t, jsonrpc.Walk([]byte(`{"a":1,"b":2}`), func(_ []byte, v jsontext.Value) error {
			require.Equal(t, len(v), cap(v))
			return nil
		}))
	})
}

func walk(object []byte) ([]member, error) {
	var out []member
	err := jsonrpc.Walk(object, func(name []byte, v jsontext.Value) error {
		out = append(out, member{string(name), string(v)})
		return nil
	})
	return out, err
}

// FuzzWalk: nothing panics or hangs, and of strict JSON Walk makes what Members
// makes.
func FuzzWalk(f *testing.F) {
	for _, seed := range append(walked, `{"a":}`, `{"a":]}`, `{"a":1,,}`, `{"a" 1}`, `{"a":"\`, "{\"\xff\":1}") {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, object []byte) {
		got, err := walk(object)
		if !jsontext.Value(object).IsValid() {
			return
		}
		want, wantErr := members(t, string(object))
		require.Equal(t, wantErr == nil, err == nil)
		require.Equal(t, want, got)
	})
}
