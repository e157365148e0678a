package schema

import (
	"cmp"
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A field is a struct field as the JSON library sees it: embedded structs are
// spread out, hidden and ignored fields are gone.
type field struct {
	reflect.StructField
	name     string // of the JSON member
	tagged   bool   // the name comes from the tag
	optional bool   // omitempty or omitzero
	quoted   bool   // the option string
	path     []int  // as for reflect.Type.FieldByIndex
}

// fieldsOf returns the fields of a struct type in the order in which they are
// declared, and the type of the field that takes all other members, if any. The
// error is the JSON library's where that could not use the type either.
func fieldsOf(t reflect.Type) (fields []field, rest reflect.Type, err error) {
	if err := json.Unmarshal([]byte("{}"), reflect.New(t).Interface()); err != nil {
		return nil, nil, fmt.Errorf("type %s: %w", t, err)
	}
	type embedded struct {
		t    reflect.Type
		path []int
	}
	var all []field
	seen := map[reflect.Type]bool{t: true}
	for queue := []embedded{{t: t}}; len(queue) > 0; queue = queue[1:] {
		e := queue[0]
		for i := range e.t.NumField() {
			f := field{StructField: e.t.Field(i), path: append(slices.Clone(e.path), i)}
			tag := f.Tag.Get("json")
			if tag == "-" || !f.IsExported() && !f.Anonymous {
				continue
			}
			name, options, _ := strings.Cut(tag, ",")
			f.name, f.tagged = cmp.Or(name, f.Name), name != ""
			spread := f.Anonymous && !f.tagged
			for option := range strings.SplitSeq(options, ",") {
				switch option {
				case "omitempty", "omitzero":
					f.optional = true
				case "string":
					f.quoted = true
				case "embed":
					spread = true
				}
				if strings.HasPrefix(option, "format:") {
					return nil, nil, fmt.Errorf("field %s.%s: the tag option format is not supported", t, f.Name)
				}
			}
			switch target := indirect(f.Type); {
			case !spread:
				all = append(all, f)
			case target.Kind() != reflect.Struct:
				if rest == nil { // the outermost one counts
					rest = target
				}
			case !seen[target]:
				seen[target] = true
				queue = append(queue, embedded{target, f.path})
			}
		}
	}
	return dominant(all), rest, nil
}

// dominant keeps one field for each name: the outermost one, or the only tagged
// one among the outermost.
func dominant(all []field) []field {
	slices.SortStableFunc(all, func(a, b field) int {
		tagged := func(f field) int {
			if f.tagged {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(len(a.path), len(b.path)), cmp.Compare(tagged(a), tagged(b)))
	})
	var fields []field
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && all[j].name == all[i].name {
			j++
		}
		if j == i+1 || len(all[i].path) != len(all[i+1].path) || all[i].tagged != all[i+1].tagged {
			fields = append(fields, all[i])
		}
		i = j
	}
	slices.SortFunc(fields, func(a, b field) int { return slices.Compare(a.path, b.path) })
	return fields
}

// indirect removes one pointer, as embedding allows it.
func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		return t.Elem()
	}
	return t
}

// hasOwnJSON reports whether t writes or reads its JSON itself, so that nothing
// is known of it.
func hasOwnJSON(t reflect.Type) bool {
	return implements[json.Marshaler](t) || implements[json.MarshalerTo](t) ||
		implements[json.Unmarshaler](t) || implements[json.UnmarshalerFrom](t) || t == reflect.TypeFor[jsontext.Value]()
}

// hasOwnText reports whether t is a JSON string because it writes or reads text.
func hasOwnText(t reflect.Type) bool {
	return implements[encoding.TextMarshaler](t) || implements[encoding.TextAppender](t) ||
		implements[encoding.TextUnmarshaler](t)
}

func implements[T any](t reflect.Type) bool {
	i := reflect.TypeFor[T]()
	return t.Implements(i) || reflect.PointerTo(t).Implements(i)
}
