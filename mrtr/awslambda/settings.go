package awslambda

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// settings are what the environment says.
type settings struct {
	onLambda       bool
	keyID          string
	acceptKeyIDs   []string
	modes          []requeststate.Mode
	audience       string
	roundTTL       time.Duration // zero: default, as below
	flowTTL        time.Duration
	maxStateBytes  int
	maxBodyBytes   int
	maxRounds      int
	origins        []string
	mode           lambdahttp.Mode
	gatewayTimeout time.Duration
	replayTable    string
	auth           authSettings
}

// localAudience names every local run: its keys are its own.
const localAudience = "local"

// How long the gateway waits for a buffered reply, where nothing else is said:
// the less patient one, a REST API. An HTTP API waits for 30 s.
const (
	defaultGatewayTimeout = 29 * time.Second
	maxGatewayTimeout     = 15 * time.Minute // what a function may take
)

// gatewayLimit is how long the gateway waits for a reply; zero: it is not known
// to give up before the function's own time-out, as one that streams.
func (s *settings) gatewayLimit() time.Duration {
	if s.gatewayTimeout == 0 && s.mode == lambdahttp.ModeBuffered {
		return defaultGatewayTimeout
	}
	return s.gatewayTimeout
}

// readSettings reads the environment through getenv. The error names the
// variable and what it should be.
func readSettings(getenv func(string) string) (settings, error) {
	s := settings{
		onLambda:     getenv("AWS_LAMBDA_RUNTIME_API") != "",
		keyID:        strings.TrimSpace(getenv("MRTR_KMS_KEY_ID")),
		acceptKeyIDs: list(getenv("MRTR_KMS_ACCEPT_KEY_IDS")),
		audience:     getenv("MRTR_AUDIENCE"),
		origins:      list(getenv("MRTR_ALLOWED_ORIGINS")),
		replayTable:  strings.TrimSpace(getenv("MRTR_REPLAY_TABLE")),
	}
	switch {
	case s.onLambda && s.keyID == "":
		return s, fmt.Errorf("MRTR_KMS_KEY_ID is not set: on Lambda the state is sealed under a KMS key or not at all")
	case s.onLambda && s.audience == "":
		return s, fmt.Errorf("MRTR_AUDIENCE is not set: it names this deployment in its states")
	case s.keyID == "" && len(s.acceptKeyIDs) > 0:
		return s, fmt.Errorf("MRTR_KMS_ACCEPT_KEY_IDS is set without MRTR_KMS_KEY_ID")
	case s.audience == "":
		s.audience = localAudience
	}
	for _, name := range list(getenv("MRTR_KMS_MODE")) {
		mode := requeststate.ModeDerived
		switch name {
		case "derived":
		case "strict":
			mode = requeststate.ModeStrict
		default:
			return s, fmt.Errorf("MRTR_KMS_MODE: %q is neither derived nor strict", name)
		}
		switch {
		case s.keyID == "":
			return s, fmt.Errorf("MRTR_KMS_MODE is set without MRTR_KMS_KEY_ID")
		case slices.Contains(s.modes, mode):
			return s, fmt.Errorf("MRTR_KMS_MODE: %q is listed twice", name)
		}
		s.modes = append(s.modes, mode)
	}
	for _, o := range s.origins {
		u, err := url.Parse(o)
		if err != nil || u.Scheme == "" || u.Host == "" || o != u.Scheme+"://"+u.Host {
			return s, fmt.Errorf("MRTR_ALLOWED_ORIGINS: %q is no origin such as https://app.example", o)
		}
	}
	mode, err := lambdahttp.ParseMode(getenv("MRTR_RESPONSE_MODE"))
	if err != nil {
		return s, fmt.Errorf("MRTR_RESPONSE_MODE: %q is neither buffered nor stream", getenv("MRTR_RESPONSE_MODE"))
	}
	s.mode = mode
	for _, v := range [...]struct {
		name string
		max  time.Duration
		dst  *time.Duration
	}{
		{"MRTR_ROUND_TTL", time.Hour, &s.roundTTL},
		{"MRTR_FLOW_TTL", 30 * 24 * time.Hour, &s.flowTTL},
		{"MRTR_GATEWAY_TIMEOUT", maxGatewayTimeout, &s.gatewayTimeout},
	} {
		if text := getenv(v.name); text != "" {
			d, err := time.ParseDuration(text)
			if err != nil || d < time.Second || d > v.max {
				return s, fmt.Errorf("%s: %q is no duration from 1s to %v", v.name, text, v.max)
			}
			*v.dst = d
		}
	}
	for _, v := range [...]struct {
		name     string
		min, max int
		dst      *int
	}{
		{"MRTR_MAX_STATE_BYTES", 1 << 10, 4 << 20, &s.maxStateBytes},
		{"MRTR_MAX_BODY_BYTES", 1 << 10, 10 << 20, &s.maxBodyBytes},
		{"MRTR_MAX_ROUNDS", 1, 1000, &s.maxRounds},
	} {
		if text := getenv(v.name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < v.min || n > v.max {
				return s, fmt.Errorf("%s: %q is no number from %d to %d", v.name, text, v.min, v.max)
			}
			*v.dst = n
		}
	}
	if s.roundTTL == 0 && s.flowTTL != 0 {
		s.roundTTL = min(10*time.Minute, s.flowTTL)
	}
	if s.flowTTL == 0 {
		s.flowTTL = time.Hour
	}
	if s.roundTTL > s.flowTTL {
		return s, fmt.Errorf("MRTR_ROUND_TTL: %v exceeds MRTR_FLOW_TTL, %v", s.roundTTL, s.flowTTL)
	}
	s.auth, err = readAuth(getenv, s.onLambda)
	return s, err
}

// list splits a comma-separated value; blank elements are left out.
func list(text string) []string {
	var out []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
