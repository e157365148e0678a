package requeststate

import (
	"crypto/sha256"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxArgumentsDepth is how many objects and arrays may lie within one another
// in arguments. Sorting members takes time that grows with size times depth.
const MaxArgumentsDepth = 256

const argumentsLabel = "mrtr arguments v1\x00"

// ArgumentsDigest returns the digest that binds a token to a call's arguments.
// Member order, white space and the escaping of strings do not matter (they
// are put in the form of RFC 8785); numbers count as written, since a canonical
// double would make 9007199254740992 and 9007199254740993 one. Absent arguments
// (an empty args) equal {}. The error, for anything that is not one JSON value
// of MaxArgumentsDepth at most, in valid UTF-8 and without duplicate member
// names, tells nothing of the value.
func ArgumentsDigest(args []byte) (Digest, error) {
	if len(args) == 0 {
		args = []byte("{}")
	}
	if tooDeep(args) {
		return Digest{}, errors.New("requeststate: arguments are nested too deeply")
	}
	b := make([]byte, 0, len(argumentsLabel)+len(args))
	b = append(append(b, argumentsLabel...), args...)
	v := jsontext.Value(b[len(argumentsLabel):])
	if err := v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)); err != nil {
		return Digest{}, errors.New("requeststate: arguments are not a JSON value")
	}
	return sha256.Sum256(append(b[:len(argumentsLabel)], v...)), nil
}

// tooDeep reports whether a JSON value is nested deeper than MaxArgumentsDepth.
// What it says of anything else has no meaning.
func tooDeep(b []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > MaxArgumentsDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
