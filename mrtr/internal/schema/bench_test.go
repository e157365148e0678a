package schema

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

type contact struct {
	Name   string   `json:"name" form:"title=Your name,minLength=1,maxLength=80"`
	Email  string   `json:"email" form:"format=email"`
	Nights int      `json:"nights" form:"min=1,max=30"`
	Room   string   `json:"room" form:"enum=single|double"`
	Extras []string `json:"extras,omitempty" form:"enum=breakfast|parking|cot"`
	Late   bool     `json:"late,omitzero"`
}

const contactAnswer = `{"name":"Ada","email":"ada@example.com","nights":2,"room":"double","extras":["breakfast"],"late":true}`

func BenchmarkValidateForm(b *testing.B) {
	f, err := FormFor(reflect.TypeFor[contact]())
	if err != nil {
		b.Fatal(err)
	}
	raw := jsontext.Value(contactAnswer)
	b.ReportAllocs()
	for b.Loop() {
		if f.Validate(raw) != nil {
			b.Fatal("invalid")
		}
	}
}

func BenchmarkValidateArguments(b *testing.B) {
	s, err := For(reflect.TypeFor[struct {
		City  string `json:"city"`
		Limit int    `json:"limit,omitzero"`
	}]())
	if err != nil {
		b.Fatal(err)
	}
	raw := jsontext.Value(`{"city":"Lisbon","limit":10}`)
	b.ReportAllocs()
	for b.Loop() {
		if s.Validate(raw) != nil {
			b.Fatal("invalid")
		}
	}
}

func BenchmarkFor(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := For(reflect.TypeFor[contact]()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFormFor(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := FormFor(reflect.TypeFor[contact]()); err != nil {
			b.Fatal(err)
		}
	}
}
