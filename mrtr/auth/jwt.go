package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
)

// maxToken is how long a bearer token may be. API Gateway takes 10 KiB of
// headers in all.
const maxToken = 32 << 10

// defaultLeeway is how far clocks may differ.
const defaultLeeway = time.Minute

// algorithms are the signatures that are accepted: those with a public key.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// Issuer is an authorization server whose tokens are accepted.
type Issuer struct {
	// URL is the issuer's identifier. Tokens and metadata must spell it exactly
	// so, with or without a slash at the end.
	URL string
	// KeysURL is where the issuer publishes its keys (a JWK set). Empty: it is
	// found through the issuer's metadata.
	KeysURL string
}

// JWTOptions change how tokens are checked. The zero value is ready for use.
type JWTOptions struct {
	// Leeway is how far the clocks may differ. Zero: 1 minute; negative: not.
	Leeway time.Duration
	// Client fetches metadata and keys. Nil: one of its own, 3 s a request.
	Client *http.Client
	// Now is the clock. Nil: time.Now.
	Now func() time.Time
}

// JWT accepts bearer tokens that are signed JWTs. Keys are fetched when the
// first token needs them and kept: for an hour, and for as long as the issuer
// does not answer. A token whose key is not among them makes them be fetched
// again, at most every 30 seconds. Nothing runs in the background.
//
// The principal is the configured issuer, the token's sub and its client_id, or
// azp where there is none. Scopes are those of scope and scp. Revocation is not
// looked up: a token is good until it expires.
type JWT struct {
	issuers   map[string]*keySet
	audiences jwt.Audience
	leeway    time.Duration
	now       func() time.Time
}

var _ Authenticator = (*JWT)(nil)

// NewJWT returns an authenticator for tokens of the issuers that name one of
// the audiences: the resource's URL, or what else an issuer calls the resource.
func NewJWT(issuers []Issuer, audiences []string, opts JWTOptions) (*JWT, error) {
	if len(issuers) == 0 || len(audiences) == 0 {
		return nil, errors.New("auth: tokens need an issuer and an audience")
	}
	j := &JWT{issuers: make(map[string]*keySet), leeway: opts.Leeway, now: opts.Now}
	for _, a := range audiences {
		if a == "" {
			return nil, errors.New("auth: an audience is empty")
		}
		j.audiences = append(j.audiences, a)
	}
	if j.leeway == 0 {
		j.leeway = defaultLeeway
	}
	j.leeway = max(j.leeway, 0)
	if j.now == nil {
		j.now = time.Now
	}
	f := newFetcher(opts.Client)
	for _, i := range issuers {
		if _, err := parseURL(i.URL); err != nil {
			return nil, fmt.Errorf("auth: issuer %q: %w", i.URL, err)
		}
		if i.KeysURL != "" {
			if err := checkFetchURL(i.KeysURL); err != nil {
				return nil, fmt.Errorf("auth: keys of issuer %q: %w", i.URL, err)
			}
		}
		if j.issuers[i.URL] != nil {
			return nil, fmt.Errorf("auth: issuer %q is listed twice", i.URL)
		}
		j.issuers[i.URL] = &keySet{issuer: i.URL, keysURL: i.KeysURL, fetcher: f, now: j.now}
	}
	return j, nil
}

// Authenticate checks the request's bearer token.
func (j *JWT) Authenticate(r *http.Request) (Caller, error) {
	token, err := bearerToken(r.Header)
	if err != nil {
		return Caller{}, err
	}
	return j.check(r.Context(), token)
}

// bearerToken returns the token of the Authorization header. Tokens in a query
// or a body are not read.
func bearerToken(h http.Header) (string, error) {
	values := h["Authorization"]
	if len(values) == 0 {
		return "", ErrNoCredentials
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.Trim(token, " ")
	switch {
	case len(values) > 1:
		return "", &RefusedError{ReasonMalformed}
	case !strings.EqualFold(scheme, "Bearer"):
		return "", ErrNoCredentials
	case len(token) > maxToken:
		return "", &RefusedError{ReasonTooLong}
	}
	return token, nil
}

// check returns whom a token names.
func (j *JWT) check(ctx context.Context, token string) (Caller, error) {
	// 1. The form: one signature, of an algorithm with a public key.
	jws, err := jose.ParseSignedCompact(token, algorithms)
	if _, ok := errors.AsType[*jose.ErrUnexpectedSignatureAlgorithm](err); ok {
		return Caller{}, &RefusedError{ReasonAlgorithm}
	}
	if err != nil {
		return Caller{}, &RefusedError{ReasonMalformed}
	}
	header := jws.Signatures[0].Protected
	if !accessToken(header.ExtraHeaders) {
		return Caller{}, &RefusedError{ReasonType}
	}
	// 2. The issuer, which says whose keys count. Nobody else's are fetched.
	c, err := parseClaims(jws.UnsafePayloadWithoutVerification())
	if err != nil {
		return Caller{}, &RefusedError{ReasonMalformed}
	}
	set, ok := j.issuers[c.Issuer]
	if !ok {
		return Caller{}, &RefusedError{ReasonIssuer}
	}
	// 3. The signature.
	keys, err := set.find(ctx, header.KeyID, header.Algorithm)
	if err != nil {
		return Caller{}, err
	}
	if !verified(jws, keys) {
		return Caller{}, &RefusedError{ReasonSignature}
	}
	// 4. What the token is for, and when.
	if err := j.validate(c); err != nil {
		return Caller{}, err
	}
	return Caller{
		Principal: mrtr.Principal{Issuer: set.issuer, Subject: c.Subject, Client: c.client()},
		Scopes:    c.scopes(),
	}, nil
}

func verified(jws *jose.JSONWebSignature, keys []jose.JSONWebKey) bool {
	for i := range keys {
		if _, err := jws.Verify(&keys[i]); err == nil {
			return true
		}
	}
	return false
}

// validate checks the claims of a token whose signature is good.
func (j *JWT) validate(c *claims) error {
	err := c.ValidateWithLeeway(jwt.Expected{AnyAudience: j.audiences, Time: j.now()}, j.leeway)
	switch {
	case c.TokenUse == "id":
		return &RefusedError{ReasonType}
	case errors.Is(err, jwt.ErrInvalidAudience):
		return &RefusedError{ReasonAudience}
	case errors.Is(err, jwt.ErrExpired) || c.Expiry == nil:
		return &RefusedError{ReasonExpired}
	case err != nil:
		return &RefusedError{ReasonNotYet}
	case c.Subject == "":
		return &RefusedError{ReasonSubject}
	}
	return nil
}

// accessToken reports whether a JWT's header is that of an access token: its
// typ is absent, JWT or at+jwt (RFC 9068), and there is no crit, since no
// extension is understood here.
func accessToken(header map[jose.HeaderKey]any) bool {
	if _, ok := header["crit"]; ok {
		return false
	}
	typ, ok := header[jose.HeaderType]
	if !ok {
		return true
	}
	s, _ := typ.(string)
	s = strings.TrimPrefix(strings.ToLower(s), "application/")
	return s == "jwt" || s == "at+jwt"
}
