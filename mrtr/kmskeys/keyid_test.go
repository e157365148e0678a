package kmskeys

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseKeyRef(t *testing.T) {
	const (
		uuid = "1234abcd-12ab-34cd-56ef-1234567890ab"
		mrk  = "mrk-1234abcd12ab34cd56ef1234567890ab"
		arn  = "arn:aws:kms:eu-west-1:111122223333:"
	)
	tests := map[string]struct {
		in    string
		id    string
		alias bool
		bad   bool
	}{
		"id":                  {in: uuid, id: uuid},
		"multi-region id":     {in: mrk, id: mrk},
		"ARN":                 {in: arn + "key/" + uuid, id: uuid},
		"multi-region ARN":    {in: arn + "key/" + mrk, id: mrk},
		"other partition":     {in: "arn:aws-us-gov:kms:us-gov-west-1:111122223333:key/" + uuid, id: uuid},
		"alias":               {in: "alias/mrtr/prod_1-a", alias: true},
		"alias ARN":           {in: arn + "alias/mrtr", alias: true},
		"longest alias":       {in: "alias/" + strings.Repeat("a", 250), alias: true},
		"empty":               {bad: true},
		"alias without slash": {in: "mrtr", bad: true},
		"empty alias":         {in: "alias/", bad: true},
		"too long an alias":   {in: "alias/" + strings.Repeat("a", 251), bad: true},
		"alias with a space":  {in: "alias/a b", bad: true},
		"upper case":          {in: strings.ToUpper(uuid), bad: true},
		"no hex":              {in: "1234abcd-12ab-34cd-56ef-1234567890ag", bad: true},
		"dash moved":          {in: "1234abc-d12ab-34cd-56ef-1234567890ab", bad: true},
		"short":               {in: uuid[1:], bad: true},
		"short multi-region":  {in: mrk[:35], bad: true},
		"long multi-region":   {in: mrk + "0", bad: true},
		"space":               {in: " " + uuid, bad: true},
		"key/ without ARN":    {in: "key/" + uuid, bad: true},
		"ARN of a service":    {in: "arn:aws:s3:eu-west-1:111122223333:key/" + uuid, bad: true},
		"ARN, no region":      {in: "arn:aws:kms::111122223333:key/" + uuid, bad: true},
		"ARN, no account":     {in: "arn:aws:kms:eu-west-1::key/" + uuid, bad: true},
		"ARN, no resource":    {in: "arn:aws:kms:eu-west-1:111122223333", bad: true},
		"ARN of a bare id":    {in: arn + uuid, bad: true},
		"ARN, path":           {in: arn + "key/a/" + uuid, bad: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ref, err := parseKeyRef(tt.in)
			if tt.bad {
				require.ErrorIs(t, err, errKeyRef)
				return
			}
			require.NoError(t, err)
			require.Equal(t, keyRef{name: tt.in, id: tt.id, alias: tt.alias}, ref)
		})
	}
}

func TestFingerprintIsFrozen(t *testing.T) {
	f := fingerprintOf("mrk-1234abcd12ab34cd56ef1234567890ab")
	require.Equal(t, "d6012cccd0c15d6e", hex.EncodeToString(f[:]))
}
