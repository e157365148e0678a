package schema

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// A decimal is a number as written in JSON: 0.digits × 10^exp. Its digits have
// no zeros at either end; zero has none at all and no sign.
type decimal struct {
	negative bool
	digits   string
	exp      int
}

const maxExponent = 1 << 30 // larger exponents are taken as this one

// parseDecimal reads a valid JSON number.
func parseDecimal(text string) decimal {
	var d decimal
	text, d.negative = strings.CutPrefix(text, "-")
	mantissa := text
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa = text[:i]
		e, err := strconv.Atoi(text[i+1:])
		if err != nil || e > maxExponent || e < -maxExponent {
			e = maxExponent
			if text[i+1] == '-' {
				e = -maxExponent
			}
		}
		d.exp = e
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	d.exp += len(whole)
	if fraction == "" {
		d.digits = whole
	} else {
		d.digits = whole + fraction
	}
	trimmed := strings.TrimLeft(d.digits, "0")
	d.exp -= len(d.digits) - len(trimmed)
	d.digits = strings.TrimRight(trimmed, "0")
	if d.digits == "" {
		return decimal{}
	}
	return d
}

func (d decimal) integer() bool { return len(d.digits) <= max(d.exp, 0) }

func (d decimal) appendKey(b []byte) []byte {
	if d.negative {
		b = append(b, '-')
	}
	b = append(b, d.digits...)
	b = append(b, 'e')
	return append(strconv.AppendInt(b, int64(d.exp), 10), ';')
}

func (d decimal) compare(e decimal) int {
	sign := func(d decimal) int {
		switch {
		case d.digits == "":
			return 0
		case d.negative:
			return -1
		}
		return 1
	}
	s := sign(d)
	if t := sign(e); s != t {
		if s < t {
			return -1
		}
		return 1
	}
	switch {
	case s == 0:
		return 0
	case d.exp < e.exp:
		return -s
	case d.exp > e.exp:
		return s
	}
	return s * strings.Compare(d.digits, e.digits)
}

// compareNumbers orders two JSON numbers by their exact values.
func compareNumbers(a, b string) int {
	if i, ok := smallInteger(a); ok {
		if j, ok := smallInteger(b); ok {
			switch {
			case i < j:
				return -1
			case i > j:
				return 1
			}
			return 0
		}
	}
	return parseDecimal(a).compare(parseDecimal(b))
}

// smallInteger reads the usual case: an integer that is written as one and fits.
func smallInteger(text string) (int64, bool) {
	if len(text) > 20 {
		return 0, false
	}
	i, err := strconv.ParseInt(text, 10, 64)
	return i, err == nil
}

// isInteger reports whether a JSON number is a whole one: 1.0 and 1e2 are.
func isInteger(text string) bool {
	if !strings.ContainsAny(text, ".eE") {
		return true
	}
	return parseDecimal(text).integer()
}

// isMultiple reports whether text is a whole multiple of step, which is above
// zero. It is exact for numbers of ordinary size and as good as a float64 for
// the others.
func isMultiple(text, step string) bool {
	if i, ok := smallInteger(text); ok {
		if m, ok := smallInteger(step); ok {
			return i%m == 0
		}
	}
	const ordinary = 64
	exact := func(s string) (*big.Rat, bool) {
		d := parseDecimal(s)
		if len(s) > ordinary || d.exp > ordinary || d.exp < -ordinary {
			return nil, false
		}
		return new(big.Rat).SetString(s)
	}
	if a, ok := exact(text); ok {
		if b, ok := exact(step); ok {
			return a.Quo(a, b).IsInt()
		}
	}
	a, _ := strconv.ParseFloat(text, 64) // out of range gives an infinity, which is no multiple
	b, _ := strconv.ParseFloat(step, 64)
	_, fraction := math.Modf(a / b)
	return fraction == 0 && !math.IsInf(a/b, 0)
}
