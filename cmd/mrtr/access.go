package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mrtr-lambda/mrtr-lambda/cmd/mrtr/internal/prompt"
	"github.com/mrtr-lambda/mrtr-lambda/cmd/mrtr/internal/signin"
)

// access says how the user proves who they are.
type access struct {
	bearer       string
	aws          bool
	clientID     string
	clientSecret string
	issuer       string
	port         int
	timeout      time.Duration
}

// access adds the flags that say so, those of the sign-in too.
func (f *flags) access() *access {
	a := f.credentials()
	f.StringVar(&a.clientID, "client-id", "", "OAuth client to sign in with, an `id`; without, mrtr registers itself")
	f.StringVar(&a.clientSecret, "client-secret", "", "its secret, @`FILE` or @-; needs --issuer")
	f.StringVar(&a.issuer, "issuer", "", "authorization server that --client-id is registered with, a `URL`; no other gets it or its secret")
	f.IntVar(&a.port, "redirect-port", 0, "`port` on this machine that the sign-in comes back to; 0 is any")
	f.DurationVar(&a.timeout, "timeout", 10*time.Minute, "`time` for all of it, the user's too, such as 90s (10m); 0 is no limit")
	return a
}

// within runs a command and ends it when its time is over.
func (a *access) within(ctx context.Context, run func(context.Context) error) error {
	if a.timeout < 0 {
		return usage("", "--timeout is less than 0")
	}
	if a.timeout == 0 {
		return run(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	err := run(ctx)
	if err != nil && ctx.Err() != nil {
		return &failure{code: exitFailed, err: fmt.Errorf("not done within %v", a.timeout), hint: "--timeout allows more; 0 is no limit"}
	}
	return err
}

// credentials adds the flags for who does not sign in.
func (f *flags) credentials() *access {
	a := new(access)
	f.StringVar(&a.bearer, "bearer", "", "bearer `token` to send; @FILE reads it from a file, @- from standard input")
	f.BoolVar(&a.aws, "aws", false, "sign requests with the AWS credentials of the environment (SigV4)")
	return a
}

// apply gives a transport the user's credentials. Without any the user signs in
// where the endpoint demands it.
func (a *access) apply(ctx context.Context, s stdio, u *url.URL, t *mcp.StreamableClientTransport) error {
	transport, err := a.transport(ctx, s, u)
	if err != nil {
		return err
	}
	if transport != nil {
		t.HTTPClient.Transport = transport
		return nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return fmt.Errorf("finding the place for tokens: %w", err)
	}
	o := signin.Options{Dir: filepath.Join(dir, "mrtr", "tokens"), ClientID: a.clientID, Issuer: a.issuer, Port: a.port}
	if o.ClientSecret, err = secret(s, "--client-secret", a.clientSecret); err != nil {
		return err
	}
	o.Show = func(address string) error {
		if _, _, why := prompt.Files(s.in, s.err); why != "" {
			return &failure{code: exitFailed, err: errors.New("the endpoint demands a sign-in, and there is no terminal"),
				hint: "sign in once at a terminal, or use --bearer or --aws"}
		}
		s.note("%s wants to know who you are; open this address to sign in:", u.Host)
		fmt.Fprintf(s.err, "\n%s\n\n", prompt.Line(address))
		return nil
	}
	t.OAuthHandler, err = signin.OAuth(u, o)
	return err
}

// transport returns one that adds credentials; nil: there are none yet.
func (a *access) transport(ctx context.Context, s stdio, u *url.URL) (http.RoundTripper, error) {
	switch {
	case a.aws && a.bearer != "":
		return nil, usage("", "--aws and --bearer exclude one another")
	case a.clientSecret != "" && !strings.HasPrefix(a.clientSecret, "@"):
		return nil, usage("--client-secret @FILE: other users see a command line", "--client-secret is not @FILE")
	case a.clientSecret != "" && a.issuer == "":
		return nil, usage("--issuer URL: the secret goes to that authorization server alone", "--client-secret needs --issuer")
	case a.issuer != "" && a.clientID == "":
		return nil, usage("--client-id ID: the client that is registered there", "--issuer needs --client-id")
	case a.issuer != "" && !strings.HasPrefix(a.issuer, "https://") && !strings.HasPrefix(a.issuer, "http://"):
		return nil, usage("--issuer https://auth.example.com", "--issuer is no address of a server")
	case a.aws:
		cfg, err := config.LoadDefaultConfig(ctx)
		if err != nil {
			return nil, fmt.Errorf("loading the AWS configuration: %w", err)
		}
		t, err := signin.AWS(u, cfg, nil)
		return t, asUsage(err, "set AWS_REGION and credentials, as for the AWS CLI")
	case a.bearer != "":
		token, err := secret(s, "--bearer", a.bearer)
		if err != nil {
			return nil, err
		}
		t, err := signin.Bearer(u, token)
		return t, asUsage(err, "")
	}
	return nil, nil
}

// client returns an HTTP client that has the user's credentials, and whether it
// sends a bearer token. It does not sign in.
func (a *access) client(ctx context.Context, s stdio, u *url.URL) (*http.Client, bool, error) {
	t, err := a.transport(ctx, s, u)
	return &http.Client{Transport: t, CheckRedirect: sameHost}, a.bearer != "", err
}

// secret returns what a flag says, or the file that it names holds.
func secret(s stdio, flag, value string) (string, error) {
	path, ok := strings.CutPrefix(value, "@")
	if !ok {
		return value, nil
	}
	var b []byte
	var err error
	if path == "-" {
		b, err = io.ReadAll(io.LimitReader(s.in, 1<<20))
	} else {
		b, err = os.ReadFile(path)
	}
	if err != nil {
		return "", usage("", "%s: %w", flag, err)
	}
	return strings.TrimSpace(string(b)), nil
}

// asUsage makes an error of package signin one of the command line.
func asUsage(err error, hint string) error {
	if err == nil {
		return nil
	}
	return usage(hint, "%s", strings.TrimPrefix(err.Error(), "signin: "))
}
