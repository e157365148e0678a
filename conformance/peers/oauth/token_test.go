package oauth

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// claims are those of an access token (RFC 9068).
type claims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience string `json:"aud"`
	Client   string `json:"client_id"`
	Scope    string `json:"scope"`
	IssuedAt int64  `json:"iat"`
	Expiry   int64  `json:"exp"`
	ID       string `json:"jti"`
}

// sign returns an access token of that time.
func (i *issuer) sign(g grant, at time.Time) (string, error) {
	return i.signClaims(claims{
		i.url, g.person, i.resource, g.client, strings.Join(g.scopes, " "), at.Unix(), at.Add(i.life).Unix(), rand.Text(),
	})
}

func (i *issuer) signClaims(c claims) (string, error) {
	payload, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	signed := encode([]byte(`{"alg":"ES256","kid":"1","typ":"at+jwt"}`)) + "." + encode(payload)
	digest := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, i.key, digest[:])
	if err != nil {
		return "", err
	}
	var signature [64]byte
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return signed + "." + encode(signature[:]), nil
}

// aged returns the same token as it is after its end.
func (i *issuer) aged(token string) string {
	c := readClaims(token)
	c.IssuedAt, c.Expiry = c.IssuedAt-2*86400, c.IssuedAt-86400
	old, err := i.signClaims(c)
	if err != nil {
		return ""
	}
	return old
}

// readClaims returns what a token says, and nothing of what says nothing.
func readClaims(token string) claims {
	var c claims
	if parts := strings.Split(token, "."); len(parts) == 3 {
		payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
		_ = json.NewDecoder(bytes.NewReader(payload)).Decode(&c)
	}
	return c
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
