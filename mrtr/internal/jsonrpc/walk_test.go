package jsonrpc_test

import (
	"errors"
	"strings"
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

type member struct{ name, value string }

// members is what a decoder that reads every byte makes of an object.
func members(object string) (out []member, err error) {
	d := jsontext.NewDecoder(strings.NewReader(object))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, errors.New("no object")
	}
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := t.String()
		v, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		out = append(out, member{name, string(v)})
	}
	_, err = d.ReadToken()
	return out, err
}

// TestWalk holds Walk against members.
func TestWalk(t *testing.T) {
	for _, object := range walked {
		t.Run(object, func(t *testing.T) {
			want, err := members(object)
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
	t.Run("within each other", func(t *testing.T) {
		var got []string
		err := jsonrpc.Walk([]byte(`{"a":{"b":1},"c":{"d":2}}`), func(name []byte, v jsontext.Value) error {
			got = append(got, string(name))
			return jsonrpc.Walk(v, func(name []byte, v jsontext.Value) error {
				got = append(got, string(name)+string(v))
				return nil
			})
		})
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b1", "c", "d2"}, got)
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

// FuzzWalk: nothing panics or hangs, and of strict JSON Walk makes what members
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
		want, wantErr := members(string(object))
		require.Equal(t, wantErr == nil, err == nil)
		require.Equal(t, want, got)
	})
}
