package main_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
)

// badSettings are refused on Lambda and locally, both with a good key and
// audience set before them.
var badSettings = []struct{ name, env, says string }{
	{"key that is none", "MRTR_KMS_KEY_ID=my key", `kmskeys: key "my key"`},
	{"accepted alias", "MRTR_KMS_ACCEPT_KEY_IDS=alias/next", `kmskeys: accepted key "alias/next": an alias names no certain key`},
	{"accepted key that is none", "MRTR_KMS_ACCEPT_KEY_IDS=my key", `kmskeys: accepted key "my key"`},
	{"unknown mode", "MRTR_KMS_MODE=derived,plain", `MRTR_KMS_MODE: "plain" is neither derived nor strict`},
	{"mode in capitals", "MRTR_KMS_MODE=STRICT", `MRTR_KMS_MODE: "STRICT" is neither derived nor strict`},
	{"mode twice", "MRTR_KMS_MODE=strict,derived,strict", `MRTR_KMS_MODE: "strict" is listed twice`},
	{"round TTL without a unit", "MRTR_ROUND_TTL=600", `MRTR_ROUND_TTL: "600" is no duration from 1s to 1h0m0s`},
	{"round TTL too long", "MRTR_ROUND_TTL=61m", `MRTR_ROUND_TTL: "61m"`},
	{"round TTL of nothing", "MRTR_ROUND_TTL=0s", `MRTR_ROUND_TTL: "0s"`},
	{"flow TTL below zero", "MRTR_FLOW_TTL=-1h", `MRTR_FLOW_TTL: "-1h"`},
	{"flow TTL too long", "MRTR_FLOW_TTL=721h", `MRTR_FLOW_TTL: "721h"`},
	{"gateway more patient than Lambda", "MRTR_GATEWAY_TIMEOUT=16m", `MRTR_GATEWAY_TIMEOUT: "16m" is no duration from 1s to 15m0s`},
	{"gateway without patience", "MRTR_GATEWAY_TIMEOUT=0", `MRTR_GATEWAY_TIMEOUT: "0"`},
	{"table without a store", "MRTR_REPLAY_TABLE=claims", "MRTR_REPLAY_TABLE is set, but this program has no store for it"},
	{"round longer than its flow", "MRTR_FLOW_TTL=5m MRTR_ROUND_TTL=6m", `MRTR_ROUND_TTL: 6m0s exceeds MRTR_FLOW_TTL, 5m0s`},
	{"state size that is no number", "MRTR_MAX_STATE_BYTES=128k", `MRTR_MAX_STATE_BYTES: "128k" is no number from 1024 to 4194304`},
	{"state size too small", "MRTR_MAX_STATE_BYTES=100", `MRTR_MAX_STATE_BYTES: "100"`},
	{"body size too large", "MRTR_MAX_BODY_BYTES=99999999999", `MRTR_MAX_BODY_BYTES: "99999999999"`},
	{"no rounds", "MRTR_MAX_ROUNDS=0", `MRTR_MAX_ROUNDS: "0"`},
	{"rounds beyond numbers", "MRTR_MAX_ROUNDS=99999999999999999999", `MRTR_MAX_ROUNDS: "99999999999999999999"`},
	{"origin with a path", "MRTR_ALLOWED_ORIGINS=https://app.example,https://app.example/", `MRTR_ALLOWED_ORIGINS: "https://app.example/" is no origin`},
	{"any origin", "MRTR_ALLOWED_ORIGINS=*", `MRTR_ALLOWED_ORIGINS: "*" is no origin`},
	{"unknown response mode", "MRTR_RESPONSE_MODE=fast", `MRTR_RESPONSE_MODE: "fast"`},
	{"bundle of certificates that is not there", "AWS_CA_BUNDLE=/nonexistent.pem", "loading the AWS configuration: "},
}

// oneLine fails unless stderr is one line of the program's with that text.
func oneLine(t *testing.T, stderr, says string) {
	t.Helper()
	require.Regexp(t, `^mrtr: [^\n]+\n$`, stderr)
	require.Contains(t, stderr, says)
}

// TestBadSettingsOnLambda starts the binary on the fake Runtime API with one
// bad setting each.
func TestBadSettingsOnLambda(t *testing.T) {
	fake := kmstest.NewServer(kmstest.Options{})
	t.Cleanup(fake.Close)
	good := append(fake.Env(), "MRTR_KMS_KEY_ID="+fake.CreateKey(kmstest.KeyOptions{}).ARN, "MRTR_AUDIENCE=startup")
	start := func(t *testing.T, env []string) error {
		api, err := lambdatest.Start(t.Context(), lambdatest.Options{Bootstrap: bootstrap, Env: append(good[:len(good):len(good)], env...)})
		if err == nil {
			require.NoError(t, api.Close())
		}
		return err
	}
	require.NoError(t, start(t, nil))
	for _, tt := range append(badSettings[:len(badSettings):len(badSettings)], []struct{ name, env, says string }{
		{"no key", "MRTR_KMS_KEY_ID=", "MRTR_KMS_KEY_ID is not set: on Lambda the state is sealed under a KMS key or not at all"},
		{"a blank key", "MRTR_KMS_KEY_ID=\t", "MRTR_KMS_KEY_ID is not set"},
		{"no audience", "MRTR_AUDIENCE=", "MRTR_AUDIENCE is not set"},
		{"no region", "AWS_REGION= AWS_DEFAULT_REGION=", "AWS_REGION is not set"},
	}...) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := start(t, settings(tt.env))
			var failed *lambdatest.InitError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, "Runtime exited with error: exit status 1", failed.Message)
			oneLine(t, failed.Logs, tt.says)
		})
	}
	t.Cleanup(func() { require.Equal(t, 1, fake.Count(), "a refused start calls no key service") })
}

// TestBadSettingsLocally runs the binary as on a desk.
func TestBadSettingsLocally(t *testing.T) {
	fake := kmstest.NewServer(kmstest.Options{})
	t.Cleanup(fake.Close)
	key := "MRTR_KMS_KEY_ID=" + fake.CreateKey(kmstest.KeyOptions{}).ARN
	run := func(env []string, args ...string) (stdout, stderr string, code int) {
		cmd := exec.CommandContext(t.Context(), bootstrap, args...)
		cmd.Env = append(fake.Env(), env...)
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return out.String(), errs.String(), exit.ExitCode()
		}
		require.NoError(t, err)
		return out.String(), errs.String(), 0
	}
	type row struct {
		name string
		env  []string
		args []string
		says string
	}
	var rows []row
	for _, bad := range badSettings {
		rows = append(rows, row{bad.name, append([]string{key}, settings(bad.env)...), nil, bad.says})
	}
	rows = append(rows,
		row{"accepted keys without a key", []string{"MRTR_KMS_ACCEPT_KEY_IDS=1234abcd-12ab-34cd-56ef-1234567890ab"}, nil, "MRTR_KMS_ACCEPT_KEY_IDS is set without MRTR_KMS_KEY_ID"},
		row{"a mode without a key", []string{"MRTR_KMS_MODE=strict"}, nil, "MRTR_KMS_MODE is set without MRTR_KMS_KEY_ID"},
		row{"a key without a region", []string{key, "AWS_REGION="}, nil, "AWS_REGION is not set"},
		row{"every address", nil, []string{"-addr", "0.0.0.0:0"}, `-addr: "0.0.0.0:0" is no loopback address`},
		row{"no host", nil, []string{"-addr", ":8080"}, `-addr: ":8080" is no loopback address`},
		row{"a name", nil, []string{"-addr", "example.com:80"}, `-addr: "example.com:80" is no loopback address`},
		row{"another IPv6 address", nil, []string{"-addr", "[2001:db8::1]:80"}, `is no loopback address`},
		row{"no port", nil, []string{"-addr", "127.0.0.1"}, `-addr: "127.0.0.1" is no host:port`},
		row{"a port beyond ports", nil, []string{"-addr", "127.0.0.1:65536"}, "listening: "},
		row{"unknown flag", nil, []string{"-port", "1"}, "reading the command line: "},
		row{"an argument", nil, []string{"serve"}, `unexpected argument "serve"`},
	)
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := tt.args
			if args == nil {
				args = []string{"-addr", "127.0.0.1:0"}
			}
			stdout, stderr, code := run(tt.env, args...)
			require.Equal(t, 1, code)
			require.Empty(t, stdout)
			oneLine(t, stderr, tt.says)
		})
	}
	t.Run("help", func(t *testing.T) {
		stdout, stderr, code := run(nil, "-h")
		require.Zero(t, code)
		require.Empty(t, stderr)
		require.Contains(t, stdout, "-addr address")
	})
}

// settings splits NAME=value pairs at spaces that stand before a name.
func settings(env string) []string {
	parts := strings.Split(env, " ")
	var out []string
	for _, p := range parts {
		if len(out) > 0 && !strings.Contains(p, "=") {
			out[len(out)-1] += " " + p
		} else {
			out = append(out, p)
		}
	}
	return out
}
