// Command smoke judges a deployed endpoint from outside, as its clients see it:
// a line for each check, a table of latencies, exit status 1 where a check
// failed. It sends some 100 requests, all to the origin of the URL.
//
//	smoke [-aws] [-round-ttl DURATION] [-origin ORIGIN] [-parallel N] URL
//
// The environment has what must not be seen in a list of processes: TOKEN, a
// bearer token, and OTHER_TOKEN, one of somebody else. With -aws requests are
// signed with the credentials that the AWS SDK finds. Without either the
// endpoint is taken to be open. Credentials, states and answers are never
// printed.
//
// No tool has an effect: where a tool asks for a confirmation of one, the answer
// is no. Five states are refused on purpose, few enough not to raise the alarms
// of infra/observability.yaml.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := parse(os.Args[1:], os.Getenv, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err == nil && s.aws:
		s.sign, err = awsSigner(ctx, s.url)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "smoke: %v\n", err)
		os.Exit(1)
	}
	if !run(ctx, s, os.Stdout) {
		os.Exit(1)
	}
}

// settings say what is judged and how.
type settings struct {
	url        *url.URL
	token      string        // bearer token; empty: none
	otherToken string        // of another person; empty: none
	aws        bool          // requests are signed
	sign       signer        // with aws
	roundTTL   time.Duration // of the endpoint; zero: not known
	origin     string        // of a page that may call; empty: none
	parallel   int           // flows at one time
	wait       func(context.Context, time.Duration) error
}

// Limits of the settings.
const (
	maxParallel = 100
	maxRoundTTL = 2 * time.Minute // what a run waits for at most
)

// parse reads the command line and the environment.
func parse(args []string, getenv func(string) string, help io.Writer) (*settings, error) {
	s := &settings{token: getenv("TOKEN"), otherToken: getenv("OTHER_TOKEN"), wait: wait}
	flags := flag.NewFlagSet("smoke", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line, and the caller's
	flags.BoolVar(&s.aws, "aws", false, "sign requests with AWS credentials")
	flags.DurationVar(&s.roundTTL, "round-ttl", 0, "the endpoint's MRTR_ROUND_TTL, to see a state expire; at most 2m")
	flags.StringVar(&s.origin, "origin", "", "an `origin` of MRTR_ALLOWED_ORIGINS, to see that its pages may call")
	flags.IntVar(&s.parallel, "parallel", 20, "flows at one time, up to 100")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(help, "usage: smoke [flags] URL")
		flags.SetOutput(help)
		flags.PrintDefaults()
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("reading the command line: %w", err)
	case flags.NArg() != 1 || flags.Arg(0) == "":
		return nil, errors.New("name the URL of one endpoint, such as https://host/mcp")
	}
	u, err := url.Parse(flags.Arg(0))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the URL is not https://host/path, without user, query and fragment")
	case u.Scheme == "http" && !loopback(u.Hostname()) && (s.token != "" || s.aws):
		return nil, errors.New("credentials go over https alone, except to this machine")
	case s.token != "" && s.aws:
		return nil, errors.New("TOKEN and -aws exclude each other")
	case s.otherToken != "" && s.token == "":
		return nil, errors.New("OTHER_TOKEN is of use beside a TOKEN alone")
	case strings.ContainsAny(s.token+s.otherToken, " \r\n"):
		return nil, errors.New("TOKEN is the token alone, without Bearer and white space")
	case s.roundTTL < 0 || s.parallel < 1 || s.parallel > maxParallel:
		return nil, errors.New("-round-ttl is not negative, and -parallel from 1 to 100")
	}
	s.url = u
	return s, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// wait returns after d, or with the context's error when that ends first.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run makes all checks, prints their outcomes and the latencies, and reports
// whether none failed.
func run(ctx context.Context, s *settings, out io.Writer) bool {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	r := &report{out: out}
	e := newEndpoint(s)
	fmt.Fprintf(out, "%s\n\n", s.url)
	if tools, ok := checkList(ctx, r, e); ok {
		expiring := checkExpiryBegin(ctx, e, tools)
		checkCaller(ctx, r, e)
		checkCORS(ctx, r, e)
		checkTools(ctx, r, e, tools)
		checkStates(ctx, r, e, tools)
		checkParallel(ctx, r, e, tools)
		checkExpiry(ctx, r, e, expiring)
	}
	e.times.print(out)
	return r.end()
}
