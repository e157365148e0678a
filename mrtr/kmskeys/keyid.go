package kmskeys

import (
	"crypto/sha256"
	"errors"
	"strings"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// keyRef is a KMS key as settings and replies name it.
type keyRef struct {
	name  string // as given, which is what KMS is asked for
	id    string // the key id; empty for an alias
	alias bool
}

var errKeyRef = errors.New("want a key id, a key ARN, an alias (alias/NAME) or an alias ARN")

// parseKeyRef reads a key id, key ARN, alias or alias ARN. Key ids are those
// that KMS makes: a UUID, or mrk- and 32 digits for a multi-region key, in lower
// case, because the fingerprint is a hash of their bytes.
func parseKeyRef(name string) (keyRef, error) {
	resource := name
	if rest, ok := strings.CutPrefix(name, "arn:"); ok {
		// partition:kms:region:account:resource
		parts := strings.SplitN(rest, ":", 5)
		if len(parts) != 5 || parts[0] == "" || parts[1] != "kms" || parts[2] == "" || parts[3] == "" {
			return keyRef{}, errKeyRef
		}
		resource = parts[4]
		id, isKey := strings.CutPrefix(resource, "key/")
		if isKey && validKeyID(id) {
			return keyRef{name: name, id: id}, nil
		}
	} else if validKeyID(name) {
		return keyRef{name: name, id: name}, nil
	}
	if alias, ok := strings.CutPrefix(resource, "alias/"); ok && validAlias(alias) {
		return keyRef{name: name, alias: true}, nil
	}
	return keyRef{}, errKeyRef
}

func validKeyID(id string) bool {
	if hex, ok := strings.CutPrefix(id, "mrk-"); ok {
		return len(hex) == 32 && isLowerHex(hex)
	}
	if len(id) != 36 {
		return false
	}
	for i := range len(id) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (id[i] == '-') || !dash && !isLowerHex(id[i:i+1]) {
			return false
		}
	}
	return true
}

func isLowerHex(s string) bool {
	return strings.Trim(s, "0123456789abcdef") == ""
}

// validAlias allows what KMS allows in an alias's name, up to 250 bytes.
func validAlias(s string) bool {
	if s == "" || len(s) > 250 {
		return false
	}
	for _, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && !('0' <= c && c <= '9') && !strings.ContainsRune("/_-", rune(c)) {
			return false
		}
	}
	return true
}

// fingerprintOf names a key in headers. It hashes the key id alone: a
// multi-region key has one id in all its regions, and an alias may move.
func fingerprintOf(keyID string) requeststate.Fingerprint {
	sum := sha256.Sum256([]byte("mrtr kms key v1\x00" + keyID))
	return requeststate.Fingerprint(sum[:])
}
