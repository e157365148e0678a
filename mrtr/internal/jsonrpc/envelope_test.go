package jsonrpc_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
)

func TestParseIDs(t *testing.T) {
	for _, id := range []string{
		`1`, `0`, `-1`, `-0`, `1152921504606846976`, `-1152921504606846977`, `123456789012345678901234567890`,
		`""`, `"a"`, `"🙂"`, `"\ud83d\ude42"`, `"\u0061\/"`, `" 1 "`, `"null"`, `"` + strings.Repeat("x", 100_000) + `"`,
	} {
		t.Run(short(id), func(t *testing.T) {
			r, bad := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id": ` + id + ` ,"method":"m"}`))
			require.Nil(t, bad)
			require.False(t, r.IsNotification())
			require.Equal(t, id, string(r.ID), "an id is kept byte for byte")

			reply := jsonrpc.AppendResult(nil, r.ID, []byte(`{"x":1}`))
			require.Equal(t, `{"jsonrpc":"2.0","id":`+id+`,"result":{"x":1}}`, string(reply))
		})
	}
	for _, id := range []string{`null`, `1.5`, `1.0`, `1e3`, `1E3`, `-1e0`, `true`, `false`, `{}`, `[]`, `[1]`, `{"a":1}`} {
		t.Run("refused "+id, func(t *testing.T) {
			r, bad := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"m"}`))
			require.NotNil(t, bad)
			require.Equal(t, jsonrpc.CodeInvalidRequest, bad.Code)
			require.Nil(t, r.ID, "an unreadable id is left out")
		})
	}
}

func TestParse(t *testing.T) {
	const parse, invalid = jsonrpc.CodeParseError, jsonrpc.CodeInvalidRequest
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, tt := range map[string]struct {
		body string
		code int    // 0: a request
		id   string // of the request, or what can be read of it
	}{
		"request":                      {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}`, 0, `1`},
		"notification":                 {`{"jsonrpc":"2.0","method":"m"}`, 0, ``},
		"white space":                  {" \r\n\t{ \"jsonrpc\" : \"2.0\" , \"id\" : 1 , \"method\" : \"m\" } \n", 0, `1`},
		"unknown members are ignored":  {`{"jsonrpc":"2.0","id":1,"method":"m","x":{"y":[null]}}`, 0, `1`},
		"as deep as it goes":           {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":` + deep(jsonrpc.MaxDepth-2) + `}}`, 0, `1`},
		"brackets in strings":          {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\\\"` + strings.Repeat("[{", 500) + `"}}`, 0, `1`},
		"empty body":                   {``, parse, ``},
		"white space alone":            {" \n", parse, ``},
		"not JSON":                     {`{`, parse, ``},
		"text":                         {`hello`, parse, ``},
		"array not ended":              {`[1,`, parse, ``},
		"byte behind":                  {`{"jsonrpc":"2.0","id":1,"method":"m"}x`, parse, ``},
		"second value behind":          {`{"jsonrpc":"2.0","id":1,"method":"m"}{}`, parse, ``},
		"byte order mark":              {"\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":1,"method":"m"}`, parse, ``},
		"UTF-16":                       {"{\x00\"\x00", parse, ``},
		"single quotes":                {`{'jsonrpc':'2.0'}`, parse, ``},
		"trailing comma":               {`{"jsonrpc":"2.0","id":1,"method":"m",}`, parse, ``},
		"leading zero":                 {`{"jsonrpc":"2.0","id":01,"method":"m"}`, parse, ``},
		"NaN":                          {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":NaN}}`, parse, ``},
		"duplicate member":             {`{"jsonrpc":"2.0","id":1,"method":"m","method":"m"}`, parse, ``},
		"duplicate member, escaped":    {`{"jsonrpc":"2.0","id":1,"method":"m","\u006dethod":"m"}`, parse, ``},
		"duplicate unknown member":     {`{"jsonrpc":"2.0","id":1,"method":"m","x":1,"x":1}`, parse, ``},
		"duplicate id":                 {`{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}`, parse, ``},
		"duplicate in params":          {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1,"a":1}}`, parse, ``},
		"duplicate deep in params":     {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[[{"b":{"c":1,"d":2,"c":3}}]]}}`, parse, ``},
		"duplicate in unknown member":  {`{"jsonrpc":"2.0","id":1,"method":"m","x":{"a":1,"a":1}}`, parse, ``},
		"invalid UTF-8 in a value":     {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"a\":\"\xff\"}}", parse, ``},
		"invalid UTF-8 in a name":      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"\xc0\xaf\":1}}", parse, ``},
		"invalid UTF-8 in an id":       {"{\"jsonrpc\":\"2.0\",\"id\":\"\xed\xa0\x80\",\"method\":\"m\"}", parse, ``},
		"half a surrogate":             {`{"jsonrpc":"2.0","id":"\ud83d","method":"m"}`, parse, ``},
		"control character":            {"{\"jsonrpc\":\"2.0\",\"id\":\"a\nb\",\"method\":\"m\"}", parse, ``},
		"one too deep":                 {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":` + deep(jsonrpc.MaxDepth-1) + `}}`, parse, ``},
		"10,000 deep":                  {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":` + deep(10_000) + `}}`, parse, ``},
		"a million deep, not ended":    {strings.Repeat(`{"a":`, 1_000_000), parse, ``},
		"batch":                        {`[{"jsonrpc":"2.0","id":1,"method":"m"}]`, invalid, ``},
		"empty batch":                  {`[]`, invalid, ``},
		"a string":                     {`"m"`, invalid, ``},
		"a number":                     {`1`, invalid, ``},
		"null":                         {`null`, invalid, ``},
		"a result":                     {`{"jsonrpc":"2.0","id":7,"result":{}}`, invalid, `7`},
		"a null result":                {`{"jsonrpc":"2.0","id":7,"result":null}`, invalid, `7`},
		"an error":                     {`{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x"}}`, invalid, `7`},
		"a request and a result":       {`{"jsonrpc":"2.0","id":7,"method":"m","result":{}}`, invalid, `7`},
		"a request and an error":       {`{"jsonrpc":"2.0","id":7,"method":"m","error":{}}`, invalid, `7`},
		"nothing":                      {`{}`, invalid, ``},
		"jsonrpc missing":              {`{"id":7,"method":"m"}`, invalid, `7`},
		"jsonrpc 1.0":                  {`{"jsonrpc":"1.0","id":7,"method":"m"}`, invalid, `7`},
		"jsonrpc a number":             {`{"jsonrpc":2.0,"id":7,"method":"m"}`, invalid, `7`},
		"jsonrpc null":                 {`{"jsonrpc":null,"id":7,"method":"m"}`, invalid, `7`},
		"Jsonrpc":                      {`{"Jsonrpc":"2.0","id":7,"method":"m"}`, invalid, `7`},
		"method missing":               {`{"jsonrpc":"2.0","id":7}`, invalid, `7`},
		"Method":                       {`{"jsonrpc":"2.0","id":7,"Method":"m"}`, invalid, `7`},
		"method a number":              {`{"jsonrpc":"2.0","id":7,"method":1}`, invalid, `7`},
		"method null":                  {`{"jsonrpc":"2.0","id":7,"method":null}`, invalid, `7`},
		"params an array":              {`{"jsonrpc":"2.0","id":7,"method":"m","params":[]}`, invalid, `7`},
		"params null":                  {`{"jsonrpc":"2.0","id":7,"method":"m","params":null}`, invalid, `7`},
		"params a string":              {`{"jsonrpc":"2.0","id":7,"method":"m","params":"x"}`, invalid, `7`},
		"ID is no id: a notification":  {`{"jsonrpc":"2.0","ID":7,"method":"m"}`, 0, ``},
		"Params are no params":         {`{"jsonrpc":"2.0","id":7,"method":"m","Params":{}}`, 0, `7`},
		"notification with bad params": {`{"jsonrpc":"2.0","method":"m","params":1}`, invalid, ``},
	} {
		t.Run(name, func(t *testing.T) {
			r, bad := jsonrpc.Parse([]byte(tt.body))
			require.Equal(t, tt.id, string(r.ID))
			if tt.code == 0 {
				require.Nil(t, bad)
				require.Equal(t, "m", r.Method)
				return
			}
			require.NotNil(t, bad)
			require.Equal(t, tt.code, bad.Code, bad.Message)
			require.Empty(t, r.Method)
			require.Nil(t, r.Params)
		})
	}
}

func TestParseGives(t *testing.T) {
	r, bad := jsonrpc.Parse([]byte(`{"params": {"b": 1, "a": [ 9007199254740993 ]} ,"method":"tools\/\u0063all","id":1,"jsonrpc":"2.0"}`))
	require.Nil(t, bad)
	require.Equal(t, "tools/call", r.Method)
	require.Equal(t, `{"b": 1, "a": [ 9007199254740993 ]}`, string(r.Params), "params are kept as they came")
}

// TestParseHuge: what is large costs what it weighs and no more.
func TestParseHuge(t *testing.T) {
	big := strings.Repeat("x", 5<<20)
	r, bad := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"requestState":"` + big + `"}}`))
	require.Nil(t, bad)
	require.Len(t, r.Params, len(big)+len(`{"requestState":""}`))

	brackets := []byte(strings.Repeat("[", 10<<20))
	allocated := testing.AllocsPerRun(1, func() { _, bad = jsonrpc.Parse(brackets) })
	require.Equal(t, jsonrpc.CodeParseError, bad.Code)
	require.Less(t, allocated, 5.0)
}

func TestAppendError(t *testing.T) {
	for name, tt := range map[string]struct {
		id   jsontext.Value
		err  jsonrpc.Error
		want string
	}{
		"plain":           {jsontext.Value(`1`), jsonrpc.Error{Code: -32601, Message: "Method not found"}, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`},
		"without id":      {nil, jsonrpc.Error{Code: -32700, Message: "Parse error"}, `{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}`},
		"with data":       {jsontext.Value(`"🙂"`), jsonrpc.Error{Code: 1, Message: "m", Data: jsontext.Value(`{"restart":true}`)}, `{"jsonrpc":"2.0","id":"🙂","error":{"code":1,"message":"m","data":{"restart":true}}}`},
		"quotes":          {jsontext.Value(`1`), jsonrpc.Error{Code: 1, Message: "a \"b\"\n"}, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a \"b\"\n"}}`},
		"invalid UTF-8":   {jsontext.Value(`1`), jsonrpc.Error{Code: 1, Message: "a\xff"}, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a` + "\ufffd" + `"}}`},
		"data is no JSON": {jsontext.Value(`1`), jsonrpc.Error{Code: 1, Message: "m", Data: jsontext.Value(`{`)}, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, "before"+tt.want, string(jsonrpc.AppendError([]byte("before"), tt.id, &tt.err)))
		})
	}
	require.EqualError(t, &jsonrpc.Error{Code: -32601, Message: "Method not found"}, "jsonrpc -32601: Method not found")
}

func TestAppendNotification(t *testing.T) {
	require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`,
		string(jsonrpc.AppendNotification(nil, "notifications/progress", []byte(`{"progress":1}`))))
}

// FuzzParse: nothing panics, what is accepted is JSON that another parser reads
// in the same way, and an id comes back as it came.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":"🙂","method":"server/discover"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"m"}]`, `{"jsonrpc":"2.0","id":1e3,"method":"m"}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":{"b":1,"b":1}}}`, ` `, `"`, `{"\`, `[[[[{"a":"]]]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, bad := jsonrpc.Parse(body)
		if bad != nil {
			require.Contains(t, []int{jsonrpc.CodeParseError, jsonrpc.CodeInvalidRequest}, bad.Code)
			require.Empty(t, r.Method)
			reply := jsonrpc.AppendError(nil, r.ID, bad)
			require.True(t, jsontext.Value(reply).IsValid(), "%s", reply)
			return
		}
		require.True(t, json.Valid(body))
		var seen struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Method  string          `json:"method"`
		}
		// encoding/json folds the case of names: it can be held against ours only
		// where no other spelling is there.
		if !foldedNames(body) {
			require.NoError(t, json.Unmarshal(body, &seen))
			require.Equal(t, "2.0", seen.Version)
			require.Equal(t, seen.Method, r.Method)
			require.Equal(t, string(seen.ID), string(r.ID))
		}
		reply := jsonrpc.AppendResult(nil, r.ID, []byte(`{}`))
		require.Equal(t, r.ID == nil, !jsontext.Value(reply).IsValid())
	})
}

func foldedNames(body []byte) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return true
	}
	for name := range members {
		for _, want := range []string{"jsonrpc", "id", "method"} {
			if name != want && strings.EqualFold(name, want) {
				return true
			}
		}
	}
	return false
}

func short(s string) string {
	if len(s) > 40 {
		return s[:40]
	}
	return s
}
