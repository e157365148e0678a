package signin

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
)

// Bearer returns a transport that sends a bearer token to the endpoint.
func Bearer(endpoint *url.URL, token string) (http.RoundTripper, error) {
	if token == "" {
		return nil, errors.New("signin: the bearer token is empty")
	}
	for _, c := range []byte(token) {
		if c <= ' ' || c >= 0x7f {
			return nil, errors.New("signin: the bearer token has characters that tokens do not have")
		}
	}
	if err := private(endpoint); err != nil {
		return nil, err
	}
	return only(endpoint, func(r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}), nil
}

// private refuses an endpoint to which credentials would go in clear text.
func private(endpoint *url.URL) error {
	ip := net.ParseIP(endpoint.Hostname())
	if endpoint.Scheme == "https" || endpoint.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("signin: credentials are not sent to %q in clear text", endpoint.Host)
}

// adding is a transport that adds credentials to requests.
type adding struct {
	endpoint *url.URL
	add      func(*http.Request) error
}

var _ http.RoundTripper = (*adding)(nil)

// only returns a transport that adds something to requests for the endpoint, and
// sends none elsewhere.
func only(endpoint *url.URL, add func(*http.Request) error) http.RoundTripper {
	return &adding{endpoint, add}
}

// RoundTrip sends a copy of the request with credentials.
func (t *adding) RoundTrip(r *http.Request) (*http.Response, error) {
	refuse := func(err error) (*http.Response, error) {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	if r.URL.Scheme != t.endpoint.Scheme || r.URL.Host != t.endpoint.Host {
		return refuse(fmt.Errorf("signin: credentials are not sent to %q", r.URL.Host))
	}
	r2 := r.Clone(r.Context())
	if err := t.add(r2); err != nil {
		return refuse(err)
	}
	return http.DefaultTransport.RoundTrip(r2)
}
