package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

type color string

type base struct {
	ID string `json:"id" form:"pattern=^\\d{1,,3}$"`
}

type everything struct {
	base
	Name     string     `json:"name" form:"title=Last,, first,description=As in your passport (a=b|c),minLength=1,maxLength=40,default=Doe"`
	Email    *string    `json:"email" form:"format=email"`
	Site     string     `json:"site,omitempty" form:"format=uri"`
	Day      string     `json:"day,omitzero" form:"format=date"`
	At       time.Time  `json:"at,omitzero" form:"title=When"`
	Color    color      `json:"color" form:"enum=#f00|#0f0,enumTitles=Red|Green || greenish,default=#0f0"`
	Size     string     `json:"size" form:"enum=S|M|L"`
	Toppings []color    `json:"toppings,omitempty" form:"enum=a|b,,c|d,minItems=1,maxItems=2,default=a|b,,c"`
	Extras   []string   `json:"extras" form:"enum=x|y,enumTitles=X|Y"`
	Count    int        `json:"count" form:"min=1,max=30,default=2"`
	Small    int8       `json:"small" form:"min=-5"`
	Natural  uint       `json:"natural"`
	Price    float64    `json:"price" form:"min=0.5,max=1e3"`
	OK       bool       `json:"ok" form:"default=false"`
	hidden   int        //lint:ignore U1000 a form leaves it out
	Ignored  complex128 `json:"-"`
}

const everythingRaw = `{"type":"object","properties":{` +
	`"id":{"type":"string","pattern":"^\\d{1,3}$"},` +
	`"name":{"type":"string","title":"Last, first","description":"As in your passport (a=b|c)","minLength":1,"maxLength":40,"default":"Doe"},` +
	`"email":{"type":"string","format":"email"},` +
	`"site":{"type":"string","format":"uri"},` +
	`"day":{"type":"string","format":"date"},` +
	`"at":{"type":"string","title":"When","format":"date-time"},` +
	`"color":{"type":"string","oneOf":[{"const":"#f00","title":"Red"},{"const":"#0f0","title":"Green | greenish"}],"default":"#0f0"},` +
	`"size":{"type":"string","enum":["S","M","L"]},` +
	`"toppings":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["a","b,c","d"]},"default":["a","b,c"]},` +
	`"extras":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"},{"const":"y","title":"Y"}]}},` +
	`"count":{"type":"integer","minimum":1,"maximum":30,"default":2},` +
	`"small":{"type":"integer","minimum":-5,"maximum":127},` +
	`"natural":{"type":"integer","minimum":0},` +
	`"price":{"type":"number","minimum":0.5,"maximum":1e3},` +
	`"ok":{"type":"boolean","default":false}},` +
	`"required":["id","name","color","size","extras","count","small","natural","price","ok"]}`

// TestFormGolden pins the bytes: the digests in sealed states are made of them.
func TestFormGolden(t *testing.T) {
	f, err := FormFor(reflect.TypeFor[everything]())
	require.NoError(t, err)
	require.Equal(t, everythingRaw, string(f.Raw()))
	require.Same(t, f.Schema(), f.schema)
	for range 20 {
		again, err := FormFor(reflect.TypeFor[everything]())
		require.NoError(t, err)
		require.Equal(t, f.Raw(), again.Raw())
	}
	contact, err := FormFor(reflect.TypeFor[contact]())
	require.NoError(t, err)
	sum := sha256.Sum256(contact.Raw())
	require.Equal(t, "3e074b9dd59e63f8662089b6c5629e534f700e45ed8f347fa9eb386b7269f2f4", hex.EncodeToString(sum[:]))
	confirm, err := FormFor(reflect.TypeFor[struct {
		OK bool `json:"ok"`
	}]())
	require.NoError(t, err)
	require.Equal(t, `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`, string(confirm.Raw()))
}

func TestFormValidate(t *testing.T) {
	f, err := FormFor(reflect.TypeFor[everything]())
	require.NoError(t, err)
	const good = `{"id":"7","name":"Ada","color":"#f00","size":"M","extras":[],"count":3,"small":1,"natural":18446744073709551615,"price":1,"ok":true`
	tests := []struct{ more, want string }{
		{``, ``},
		{`,"unknown":{"a":[]}`, ``},
		{`,"email":"a@b","site":"https://a","day":"2026-07-28","at":"2026-07-28T10:00:00Z","toppings":["d"]`, ``},
		{`,"email":null`, `/email must be a string`},
		{`,"email":"nobody"`, `/email must be an email address`},
		{`,"site":"here"`, `/site must be an absolute URI`},
		{`,"day":"today"`, `/day must be a date, as in 2006-01-02`},
		{`,"at":"now"`, `/at must be a date and time with zone, as in 2006-01-02T15:04:05Z`},
		{`,"toppings":[]`, `/toppings has too few items`},
		{`,"toppings":["a","d","d"]`, `/toppings has too many items`},
		{`,"toppings":["d","e"]`, `/toppings/1 is not one of the allowed values`},
		{`,"toppings":"a"`, `/toppings must be a list`},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, lines(f.Validate(jsontext.Value(good+tt.more+"}"))), tt.more)
	}
	changes := []struct{ old, new, want string }{
		{`"id":"7"`, `"id":"1234"`, `/id does not have the required form`},
		{`"name":"Ada"`, `"name":""`, `/name is too short`},
		{`"name":"Ada"`, `"name":"` + strings.Repeat("é", 41) + `"`, `/name is too long`},
		{`"name":"Ada"`, `"name":7`, `/name must be a string`},
		{`"name":"Ada"`, `"Name":"Ada"`, `/name is required`},
		{`"color":"#f00"`, `"color":"Red"`, `/color is not one of the allowed values`},
		{`"size":"M"`, `"size":["M"]`, `/size must be a string`},
		{`"extras":[]`, `"extras":["X"]`, `/extras/0 is not one of the allowed values`},
		{`"count":3`, `"count":31`, `/count is too large`},
		{`"count":3`, `"count":0`, `/count is too small`},
		{`"count":3`, `"count":"3"`, `/count must be an integer`},
		{`"count":3`, `"count":3.5`, `/count must be an integer`},
		{`"count":3`, `"count":3.0`, `/count must be written as a whole number, without fraction and exponent`},
		{`"small":1`, `"small":128`, `/small is too large`},
		{`"natural":18446744073709551615`, `"natural":-1`, `/natural is too small`},
		{`"natural":18446744073709551615`, `"natural":18446744073709551616`, `/natural is out of the range of 64-bit integers`},
		{`"price":1`, `"price":0.49999999999999999999`, `/price is too small`},
		{`"price":1`, `"price":1e999`, `/price is out of the range of 64-bit floating point numbers`},
		{`"ok":true`, `"ok":"true"`, `/ok must be true or false`},
	}
	for _, tt := range changes {
		raw := strings.Replace(good+"}", tt.old, tt.new, 1)
		require.NotEqual(t, good+"}", raw)
		require.Equal(t, tt.want, lines(f.Validate(jsontext.Value(raw))), tt.new)
	}

	var got everything
	require.NoError(t, json.Unmarshal([]byte(good+"}"), &got))
	require.Equal(t, uint(1<<64-1), got.Natural)
	require.Empty(t, got.Toppings, "the default is a proposal to the user, not a value")

	optional, err := FormFor(reflect.TypeFor[struct {
		Note string `json:"note,omitempty"`
	}]())
	require.NoError(t, err)
	require.Empty(t, optional.Validate(nil))
	require.Equal(t, "the value must be an object", lines(optional.Validate(jsontext.Value("null"))))
	require.Len(t, f.Validate(nil), maxViolations)
}

type (
	withDuration struct{ D time.Duration }
	withText     struct{ T textual }
	textual      struct{}
	level        int
	withLevel    struct{ L level }
)

func (textual) MarshalText() ([]byte, error)   { return nil, nil }
func (level) MarshalText() ([]byte, error)     { return []byte("low"), nil }
func (*level) UnmarshalText(text []byte) error { return nil }

func TestFormCannot(t *testing.T) {
	tests := []struct {
		form any
		want string
	}{
		{"", "type string cannot be a form"},
		{map[string]string{}, "cannot be a form: a form is made from a flat struct"},
		{time.Time{}, "type time.Time cannot be a form"},
		{struct{}{}, "it needs exported fields"},
		{struct{ a int }{}, "no exported fields"},
		{struct {
			M map[string]int `json:",embed"`
		}{}, "no embedded map"},
		{struct{ Inner struct{ A int } }{}, "Inner: a form cannot ask for a struct { A int }"},
		{struct{ Map map[string]string }{}, "Map: a form cannot ask for a map[string]string"},
		{struct{ Any any }{}, "Any: a form cannot ask for a interface {}"},
		{struct{ Ints []int }{}, "Ints: a form cannot ask for a []int"},
		{struct{ Bytes []byte }{}, "Bytes: a form cannot ask for a []uint8"},
		{struct{ Two [2]string }{}, "Two: a form cannot ask for a [2]string"},
		{struct{ Deep **string }{}, "Deep: a form cannot ask for a *string"},
		{struct{ List *[]string }{}, "List: a form cannot ask for a *[]string"},
		{struct{ Raw jsontext.Value }{}, "Raw: a form cannot ask for a jsontext.Value"},
		{withDuration{}, "withDuration.D: a form cannot ask for a time.Duration"},
		{withText{}, "withText.T: a form cannot ask for a schema.textual"},
		{withLevel{}, "withLevel.L: a form cannot ask for a schema.level"},
		{struct {
			N int `json:",string"`
		}{}, "N: a form has no numbers in strings"},
		{struct {
			//lint:ignore SA5008 the mistake is what is tested
			N string `json:"n,omitEmpty"`
		}{}, "invalid appearance of `omitEmpty`"},
		{struct{ Free []string }{}, "Free: a form can only ask for a list of given values"},
		{struct {
			A string `form:"title"`
		}{}, "A: form tag: option title has no value"},
		{struct {
			A string `form:"title=a, b"`
		}{}, `A: form tag: unknown option " b" (a comma inside a value is written twice)`},
		{struct {
			A string `form:"titel=a"`
		}{}, `A: form tag: unknown option "titel"`},
		{struct {
			A string `form:"title=a,"`
		}{}, `A: form tag: unknown option ""`},
		{struct {
			A string `form:"title=a,title=b"`
		}{}, "A: form tag: option title is there twice"},
		{struct {
			A string `form:"min=1"`
		}{}, "A: form tag: option min does not fit a line of text"},
		{struct {
			A string `form:"enum=a|b,maxLength=3"`
		}{}, "A: form tag: option maxLength does not fit a choice"},
		{struct {
			A string `form:"enumTitles=a"`
		}{}, "A: form tag: option enumTitles does not fit a line of text"},
		{struct {
			A int `form:"enum=1|2"`
		}{}, "A: form tag: option enum does not fit a number"},
		{struct {
			A bool `form:"format=date"`
		}{}, "A: form tag: option format does not fit a bool"},
		{struct {
			A []string `form:"enum=a,format=date"`
		}{}, "A: form tag: option format does not fit a list of choices"},
		{struct {
			A string `form:"format=ipv4"`
		}{}, `A: form tag: unknown format "ipv4"`},
		{struct {
			A time.Time `form:"format=date"`
		}{}, "A: a time.Time has the format date-time"},
		{struct {
			A string `form:"enum=a|"`
		}{}, "A: form tag: an empty value in enum"},
		{struct {
			A string `form:"enum=a|b|a"`
		}{}, `A: form tag: "a" is in enum twice`},
		{struct {
			A string `form:"enum=a|b,enumTitles=A"`
		}{}, "A: form tag: enumTitles must have as many values as enum"},
		{struct {
			A string `form:"minLength=x"`
		}{}, "A: form tag: minLength must be a whole number"},
		{struct {
			A string `form:"minLength=3,maxLength=2"`
		}{}, "A: form tag: minLength is above maxLength"},
		{struct {
			A []string `form:"enum=a|b,minItems=-1"`
		}{}, "A: form tag: minItems must be a whole number"},
		{struct {
			A int `form:"min=1.5"`
		}{}, "A: form tag: min is not a JSON integer"},
		{struct {
			A float64 `form:"max= 1"`
		}{}, "A: form tag: max is not a JSON number"},
		{struct {
			A float64 `form:"max=1}"`
		}{}, "A: form tag: max is not a JSON number"},
		{struct {
			A uint8 `form:"max=256"`
		}{}, "A: form tag: max is out of the range of the Go type"},
		{struct {
			A uint `form:"min=-1"`
		}{}, "A: form tag: min is out of the range of the Go type"},
		{struct {
			A int `form:"min=2,max=1"`
		}{}, "A: form tag: min is above max"},
		{struct {
			A int `form:"default=x"`
		}{}, "A: form tag: the default is not a JSON integer"},
		{struct {
			A int `form:"max=1,default=2"`
		}{}, "A: the default is too large"},
		{struct {
			A bool `form:"default=yes"`
		}{}, "A: form tag: the default must be true or false"},
		{struct {
			A string `form:"format=email,default=me"`
		}{}, "A: the default must be an email address"},
		{struct {
			A string `form:"enum=a|b,default=c"`
		}{}, "A: the default is not one of the allowed values"},
		{struct {
			A []string `form:"enum=a|b,default=a|c"`
		}{}, "A: the default is not one of the allowed values"},
		{struct {
			A string `form:"pattern=(?=x)"`
		}{}, "is not a regular expression of RE2"},
		{struct {
			A string `form:"title=\xff"`
		}{}, "is not valid UTF-8"},
	}
	for _, tt := range tests {
		f, err := FormFor(reflect.TypeOf(tt.form))
		require.ErrorContains(t, err, tt.want, "%T", tt.form)
		require.True(t, strings.HasPrefix(err.Error(), "schema: "), err.Error())
		require.Nil(t, f)
	}
}
