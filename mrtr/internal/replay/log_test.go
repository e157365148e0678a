package replay_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/replay"
)

// counting is a digest whose bytes are easy to find in the wire form.
func counting(from byte) (d replay.Digest) {
	for i := range d {
		d[i] = from + byte(i)
	}
	return d
}

// wireForms are logs with the bytes that they are. Tokens in flight hold these
// bytes: a change here is a new version of the token.
var wireForms = []struct {
	name string
	log  replay.Log
	wire string
}{
	{"empty", replay.Log{}, `{}`},
	{
		"open group",
		replay.Log{Entries: []replay.Entry{{Open: true, Group: []replay.Answered{
			{Key: "name", Digest: counting(0)},
		}}}},
		`{"l":[["o","name","AAECAwQFBgcICQoLDA0ODw",null]]}`,
	},
	{
		"every outcome",
		replay.Log{Entries: []replay.Entry{{Open: true, Group: []replay.Answered{
			{Key: "a", Digest: counting(0), Outcome: replay.Accepted, Value: jsontext.Value(`{"n":1}`)},
			{Key: "b", Digest: counting(1), Outcome: replay.Declined},
			{Key: "c", Digest: counting(2), Outcome: replay.Cancelled},
			{Key: "d", Digest: counting(3)},
		}}}},
		`{"l":[["o","a","AAECAwQFBgcICQoLDA0ODw",{"n":1},"b","AQIDBAUGBwgJCgsMDQ4PEA","d","c","AgMEBQYHCAkKCwwNDg8QEQ","c","d","AwQFBgcICQoLDA0ODxAREg",null]]}`,
	},
	{
		"confirmation, closed",
		replay.Log{Entries: []replay.Entry{{Group: []replay.Answered{
			{Key: "sure", Digest: counting(240), Confirm: true, Outcome: replay.Accepted, Value: jsontext.Value(`{"ok":true}`)},
		}}}},
		`{"l":[["a","sure","!8PHy8_T19vf4-fr7_P3-_w",{"ok":true}]]}`,
	},
	{
		"steps",
		replay.Log{Entries: []replay.Entry{
			{Step: "quote", Result: jsontext.Value(`{"price":9007199254740993}`)},
			{Step: "nothing", Result: jsontext.Value(`null`)},
			{Step: "text", Result: jsontext.Value(`"🙂"`)},
		}},
		`{"l":[["s","quote",{"price":9007199254740993}],["s","nothing",null],["s","text","🙂"]]}`,
	},
	{
		"names that need escapes",
		replay.Log{Entries: []replay.Entry{
			{Step: "a\"\\\n\x01/<é", Result: jsontext.Value(`0`)},
			{Open: true, Group: []replay.Answered{{Key: "", Digest: counting(0)}}},
		}},
		`{"l":[["s","a\"\\\n\u0001/<é",0],["o","","AAECAwQFBgcICQoLDA0ODw",null]]}`,
	},
	{"guard", replay.Log{Own: []byte("asked to confirm"), Asked: []string{"confirm", "name"}}, `{"o":"YXNrZWQgdG8gY29uZmlybQ","g":["confirm","name"]}`},
	{"guard without own state", replay.Log{Asked: []string{"confirm"}}, `{"g":["confirm"]}`},
	{"own state of no bytes", replay.Log{Own: []byte{}}, `{"o":""}`},
	{"yields", replay.Log{Yields: 3}, `{"y":[3,0]}`},
	{"home", replay.Log{Home: "eu-central-1/\"claims\"é"}, `{"h":"eu-central-1/\"claims\"é"}`},
	{
		"all members",
		replay.Log{
			Entries: []replay.Entry{{Step: "s", Result: jsontext.Value(`true`)}},
			Own:     []byte{255}, Asked: []string{"k"}, Yields: 12, YieldAt: 1, Home: "memory",
		},
		`{"l":[["s","s",true]],"o":"_w","g":["k"],"y":[12,1],"h":"memory"}`,
	},
}

func TestWireForm(t *testing.T) {
	for _, tt := range wireForms {
		t.Run(tt.name, func(t *testing.T) {
			b, err := tt.log.Append([]byte("before"))
			require.NoError(t, err)
			require.Equal(t, "before"+tt.wire, string(b))

			log, err := replay.Parse([]byte(tt.wire))
			require.NoError(t, err)
			require.Equal(t, tt.log, log)
		})
	}
}

// TestWireFormInSpec holds the examples that the page on the token shows
// against the code.
func TestWireFormInSpec(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "requeststate", "SPEC.md"))
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(page), "\n## The body: the engine's log\n")
	require.True(t, ok)
	section, _, ok = strings.Cut(section, "\n## ")
	require.True(t, ok)
	for _, member := range []string{"l", "o", "g", "y", "h"} {
		require.Contains(t, section, "\n    "+member+"   ")
	}
	examples := 0
	for line := range strings.SplitSeq(section, "\n") {
		if wire, ok := strings.CutPrefix(line, "    {"); ok {
			examples++
			log, err := replay.Parse([]byte("{" + wire))
			require.NoError(t, err, "not a log: %s", line)
			require.NotEqual(t, replay.Log{}, log)
		}
	}
	require.NotZero(t, examples)
}

func TestParseRefuses(t *testing.T) {
	const d = `"AAECAwQFBgcICQoLDA0ODw"`
	for name, wire := range map[string]string{
		"nothing":                    ``,
		"not JSON":                   `{`,
		"another value":              `[]`,
		"two values":                 `{}{}`,
		"white space":                `{ }`,
		"newline behind":             "{}\n",
		"byte behind":                `{}x`,
		"unknown member":             `{"x":1}`,
		"unknown member at the end":  `{"y":[1,0],"h":"memory","x":1}`,
		"empty home":                 `{"h":""}`,
		"home is no string":          `{"h":1}`,
		"home before yields":         `{"h":"memory","y":[1,0]}`,
		"home escaped needlessly":    `{"h":"\u006demory"}`,
		"empty list":                 `{"l":[]}`,
		"no list":                    `{"l":{}}`,
		"list not ended":             `{"l":[["s","a",1]`,
		"member twice":               `{"l":[["s","a",1]],"l":[["s","a",1]]}`,
		"other order":                `{"g":["k"],"o":""}`,
		"entry is no array":          `{"l":[1]}`,
		"empty entry":                `{"l":[[]]}`,
		"unknown tag":                `{"l":[["x","a",1]]}`,
		"tag is no string":           `{"l":[[1,"a",1]]}`,
		"step without name":          `{"l":[["s","",1]]}`,
		"step without result":        `{"l":[["s","a"]]}`,
		"step with more":             `{"l":[["s","a",1,2]]}`,
		"step's name is no string":   `{"l":[["s",1,1]]}`,
		"duplicate names in result":  `{"l":[["s","a",{"x":1,"x":1}]]}`,
		"group without questions":    `{"l":[["a"]]}`,
		"question without digest":    `{"l":[["o","k"]]}`,
		"question without answer":    `{"l":[["o","k",` + d + `]]}`,
		"digest is no string":        `{"l":[["o","k",1,null]]}`,
		"digest empty":               `{"l":[["o","k","",null]]}`,
		"digest of one mark":         `{"l":[["o","k","!",null]]}`,
		"digest short":               `{"l":[["o","k","AAECAwQFBgcICQoLDA0O",null]]}`,
		"digest long":                `{"l":[["o","k","AAECAwQFBgcICQoLDA0ODw8",null]]}`,
		"digest padded":              `{"l":[["o","k","AAECAwQFBgcICQoLDA0ODw==",null]]}`,
		"digest not canonical":       `{"l":[["o","k","AAECAwQFBgcICQoLDA0ODx",null]]}`,
		"digest with newline":        `{"l":[["o","k","AAECAwQFBgcICQoLDA0ODw\n",null]]}`,
		"digest of another alphabet": `{"l":[["o","k","8PHy8/T19vf4+fr7/P3+/w",null]]}`,
		"digest with two marks":      `{"l":[["o","k","!!AAECAwQFBgcICQoLDA0ODw",null]]}`,
		"answer is a number":         `{"l":[["o","k",` + d + `,1]]}`,
		"answer is another string":   `{"l":[["o","k",` + d + `,"x"]]}`,
		"answer is escaped":          `{"l":[["o","k",` + d + `,"\u0064"]]}`,
		"answer is an array":         `{"l":[["o","k",` + d + `,[]]]}`,
		"answer is a boolean":        `{"l":[["o","k",` + d + `,true]]}`,
		"open entry inside":          `{"l":[["o","k",` + d + `,null],["s","a",1]]}`,
		"key escaped needlessly":     `{"l":[["s","\u0061",1]]}`,
		"own state is no string":     `{"o":1}`,
		"own state is not base64":    `{"o":"%"}`,
		"own state not canonical":    `{"o":"_x"}`,
		"own state with newline":     `{"o":"\n"}`,
		"asked is empty":             `{"g":[]}`,
		"asked is no string":         `{"g":[1]}`,
		"no yields":                  `{"y":[0,0]}`,
		"yields missing":             `{"y":[1]}`,
		"yields too many":            `{"y":[1,0,0]}`,
		"yields negative":            `{"y":[1,-1]}`,
		"yields fractional":          `{"y":[1,0.5]}`,
		"yields with exponent":       `{"y":[1e0,0]}`,
		"yields too large":           `{"y":[4294967296,0]}`,
		"yields are strings":         `{"y":["1","0"]}`,
		"yields are an object":       `{"y":{}}`,
		"invalid UTF-8":              "{\"l\":[[\"s\",\"\xff\",1]]}",
		"half a surrogate":           `{"g":["\ud800"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			log, err := replay.Parse([]byte(wire))
			require.Error(t, err)
			require.Equal(t, "replay: not a log", err.Error(), "the error must tell nothing of the content")
			require.Equal(t, replay.Log{}, log)
		})
	}
}

func TestAppendRefusesTextThatIsNotUTF8(t *testing.T) {
	for name, log := range map[string]replay.Log{
		"step":  {Entries: []replay.Entry{{Step: "\xff", Result: jsontext.Value(`1`)}}},
		"key":   {Entries: []replay.Entry{{Group: []replay.Answered{{Key: "\xff"}}}}},
		"guard": {Asked: []string{"\xff"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := log.Append(nil)
			require.ErrorContains(t, err, "not UTF-8")
			if len(log.Entries) > 0 {
				require.Zero(t, log.Entries[0].Size())
			}
		})
	}
}

func TestEntryNameAndSize(t *testing.T) {
	s := replay.Entry{Step: "quote", Result: jsontext.Value(`{"price":1}`)}
	require.Equal(t, "quote", s.Name())
	require.Equal(t, `step "quote"`, s.String())
	require.Equal(t, len(`["s","quote",{"price":1}]`), s.Size())

	g := wireForms[2].log.Entries[0]
	require.Equal(t, "a", g.Name())
	require.Equal(t, `question "a"`, g.String())
	require.Equal(t, len(wireForms[2].wire)-len(`{"l":[]}`), g.Size())
	require.Empty(t, (&replay.Entry{}).Name())
}

func TestHasAsked(t *testing.T) {
	log := replay.Log{Asked: []string{"a", "b"}}
	require.True(t, log.HasAsked("b"))
	require.False(t, log.HasAsked("c"))
}

// FuzzParse: nothing panics, and what is accepted is the one way to write that
// log.
func FuzzParse(f *testing.F) {
	for _, tt := range wireForms {
		f.Add([]byte(tt.wire))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		log, err := replay.Parse(b)
		if err != nil {
			require.Equal(t, replay.Log{}, log)
			return
		}
		again, err := log.Append(nil)
		require.NoError(t, err)
		require.Equal(t, string(b), string(again))
		reread, err := replay.Parse(again)
		require.NoError(t, err)
		require.Equal(t, log, reread)

		// Whatever a log holds, a run over it ends well.
		for i := range log.Entries {
			require.Positive(t, log.Entries[i].Size())
		}
		r := replay.NewRun(log, true, answers{"name": yes})
		_ = then(step("s", `1`), ask(form("name"), confirm("sure", "Sure?")), step("t", `2`))(r)
		_ = r.End(true)
		_, err = r.Log().Append(nil)
		require.NoError(t, err)
	})
}

func BenchmarkParse(b *testing.B) {
	log := replay.Log{}
	for i := range 10 {
		log.Entries = append(log.Entries, replay.Entry{Group: []replay.Answered{{
			Key: "question", Digest: counting(byte(i)), Outcome: replay.Accepted, Value: jsontext.Value(`{"text":"` + strings.Repeat("n", 60) + `"}`),
		}}})
	}
	wire, err := log.Append(nil)
	require.NoError(b, err)
	b.SetBytes(int64(len(wire)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := replay.Parse(wire); err != nil {
			b.Fatal(err)
		}
	}
}
