package schema

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// formOptions are the options of one form tag, by key, each taken once.
type formOptions map[string]string

var formKeys = []string{"title", "description", "default", "format", "minLength", "maxLength", "pattern",
	"min", "max", "enum", "enumTitles", "minItems", "maxItems"}

func parseFormTag(tag string) (formOptions, error) {
	options := formOptions{}
	if tag == "" {
		return options, nil
	}
	for _, option := range splitDoubled(tag, ',') {
		key, value, ok := strings.Cut(option, "=")
		switch {
		case !slices.Contains(formKeys, key):
			return nil, fmt.Errorf("form tag: unknown option %q (a comma inside a value is written twice)", key)
		case !ok || value == "":
			return nil, fmt.Errorf("form tag: option %s has no value", key)
		}
		if _, twice := options[key]; twice {
			return nil, fmt.Errorf("form tag: option %s is there twice", key)
		}
		options[key] = value
	}
	return options, nil
}

// splitDoubled splits s at each separator that stands alone; two of them are
// one that belongs to the text.
func splitDoubled(s string, separator byte) []string {
	var parts []string
	var part []byte
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != separator:
			part = append(part, s[i])
		case i+1 < len(s) && s[i+1] == separator:
			part = append(part, separator)
			i++
		default:
			parts = append(parts, string(part))
			part = nil
		}
	}
	return append(parts, string(part))
}

// take removes an option and returns its value, empty if it is not there.
func (o formOptions) take(key string) string {
	value := o[key]
	delete(o, key)
	return value
}

// list takes an option that lists values.
func (o formOptions) list(key string) ([]string, error) {
	if o[key] == "" {
		return nil, nil
	}
	list := splitDoubled(o.take(key), '|')
	for i, s := range list {
		if s == "" {
			return nil, fmt.Errorf("form tag: an empty value in %s", key)
		}
		if slices.Contains(list[:i], s) {
			return nil, fmt.Errorf("form tag: %q is in %s twice", s, key)
		}
	}
	return list, nil
}

// counts takes two options that are bounds of a count, each empty if it is not
// there.
func (o formOptions) counts(low, high string) (least, most string, err error) {
	bounds := [2]int{0, 1 << 30}
	texts := [2]string{o.take(low), o.take(high)}
	for i, s := range texts {
		if s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n > 1<<30 {
			return "", "", fmt.Errorf("form tag: %s must be a whole number of at least 0", [2]string{low, high}[i])
		}
		bounds[i], texts[i] = n, strconv.Itoa(n)
	}
	if bounds[0] > bounds[1] {
		return "", "", fmt.Errorf("form tag: %s is above %s", low, high)
	}
	return texts[0], texts[1], nil
}

// rest returns an error if there are options that nobody took.
func (o formOptions) rest(what string) error {
	for _, key := range formKeys {
		if _, left := o[key]; left {
			return fmt.Errorf("form tag: option %s does not fit %s", key, what)
		}
	}
	return nil
}

var errTitles = errors.New("form tag: enumTitles must have as many values as enum")

// choices takes enum and enumTitles.
func (o formOptions) choices() (values, titles []string, err error) {
	if values, err = o.list("enum"); err != nil {
		return nil, nil, err
	}
	if titles, err = o.list("enumTitles"); err != nil {
		return nil, nil, err
	}
	if titles != nil && len(titles) != len(values) {
		return nil, nil, errTitles
	}
	return values, titles, nil
}
