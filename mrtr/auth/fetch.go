package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	fetchTimeout  = 3 * time.Second // of a request
	flightTimeout = 5 * time.Second // of metadata and keys together
	maxDocument   = 1 << 20         // of metadata or a JWK set
	maxKeys       = 100             // of a JWK set
)

// fetcher gets what issuers publish. Its errors name URLs and statuses, and
// hold no other part of what an issuer sent.
type fetcher struct {
	client *http.Client
}

func newFetcher(client *http.Client) *fetcher {
	if client == nil {
		transport := http.DefaultTransport
		if t, ok := transport.(*http.Transport); ok {
			transport = t.Clone()
		}
		client = &http.Client{Transport: transport, Timeout: fetchTimeout, CheckRedirect: checkRedirect}
	}
	return &fetcher{client}
}

// checkRedirect follows a few redirects, to places as safe as the first.
func checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > 3 || !secure(r.URL) {
		return http.ErrUseLastResponse
	}
	return nil
}

// checkFetchURL holds the URL of a document against what is fetched.
func checkFetchURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || !secure(u) {
		return fmt.Errorf("%q is no https URL", s)
	}
	return nil
}

// keys returns the keys that an issuer publishes at keysURL, or where its
// metadata says.
func (f *fetcher) keys(ctx context.Context, issuer, keysURL string) ([]jose.JSONWebKey, error) {
	ctx, cancel := context.WithTimeout(ctx, flightTimeout)
	defer cancel()
	defer f.client.CloseIdleConnections() // the next fetch is far off
	if keysURL == "" {
		var err error
		if keysURL, err = f.discover(ctx, issuer); err != nil {
			return nil, err
		}
	}
	body, status, err := f.get(ctx, keysURL)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("%s answered status %d", keysURL, status)
	}
	return parseKeys(body)
}

// discover returns the jwks_uri of an issuer's metadata: OpenID Connect
// Discovery 1.0 with the path before and after, RFC 8414.
func (f *fetcher) discover(ctx context.Context, issuer string) (string, error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return "", err
	}
	host, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	places := []string{host + path + "/.well-known/openid-configuration", host + "/.well-known/oauth-authorization-server" + path}
	if path != "" {
		places = append(places, host+"/.well-known/openid-configuration"+path)
	}
	for _, place := range places {
		body, status, err := f.get(ctx, place)
		if err != nil {
			return "", err
		}
		if status >= 500 {
			return "", fmt.Errorf("%s answered status %d", place, status)
		}
		if status != http.StatusOK {
			continue
		}
		var metadata struct {
			Issuer  string `json:"issuer"`
			KeysURL string `json:"jwks_uri"`
		}
		switch {
		case json.Unmarshal(body, &metadata) != nil:
			return "", fmt.Errorf("%s is no metadata", place)
		case metadata.Issuer != issuer:
			return "", fmt.Errorf("%s is the metadata of an issuer that spells itself otherwise", place)
		}
		if err := checkFetchURL(metadata.KeysURL); err != nil {
			return "", fmt.Errorf("%s: jwks_uri is no https URL", place)
		}
		return metadata.KeysURL, nil
	}
	return "", errors.New("no metadata found")
}

// get returns a document and its status.
func (f *fetcher) get(ctx context.Context, address string) ([]byte, int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set("Accept", "application/json")
	resp, err := f.client.Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("reading %s: %w", address, err)
	case len(body) > maxDocument:
		return nil, 0, fmt.Errorf("%s has more than %d bytes", address, maxDocument)
	}
	return body, resp.StatusCode, nil
}

// parseKeys returns the usable keys of a JWK set. Others are left out (RFC
// 7517, section 5): one odd key does not hide the rest.
func parseKeys(body []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if json.Unmarshal(body, &set) != nil || set.Keys == nil || len(set.Keys) > maxKeys {
		return nil, errors.New("the keys are no JWK set")
	}
	keys := make([]jose.JSONWebKey, 0, len(set.Keys))
	for _, raw := range set.Keys {
		var k jose.JSONWebKey
		if k.UnmarshalJSON(raw) == nil && usable(&k) {
			keys = append(keys, k)
		}
	}
	return keys, nil
}
