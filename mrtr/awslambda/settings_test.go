package awslambda

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

const testKey = "alias/state"

// TestReadSettings reads what is good. What is bad is refused by a process: see
// the tests of functions/mcp.
func TestReadSettings(t *testing.T) {
	onLambda := map[string]string{"AWS_LAMBDA_RUNTIME_API": "127.0.0.1:9001", "MRTR_KMS_KEY_ID": testKey, "MRTR_AUDIENCE": "prod"}
	lambda := func(s settings) settings {
		s.onLambda, s.keyID, s.audience = true, testKey, "prod"
		return s
	}
	for _, tt := range []struct {
		name string
		base map[string]string
		env  map[string]string
		want settings
	}{
		{"nothing", nil, nil, settings{audience: "local", flowTTL: time.Hour}},
		{"a key off Lambda", nil, map[string]string{"MRTR_KMS_KEY_ID": " " + testKey + " "}, settings{keyID: testKey, audience: "local", flowTTL: time.Hour}},
		{"Lambda", onLambda, nil, lambda(settings{flowTTL: time.Hour})},
		{"lists", onLambda, map[string]string{
			"MRTR_KMS_ACCEPT_KEY_IDS": "one, two,,three ,",
			"MRTR_KMS_MODE":           " strict,derived",
			"MRTR_ALLOWED_ORIGINS":    "https://app.example,http://localhost:3000",
		}, lambda(settings{
			flowTTL:      time.Hour,
			acceptKeyIDs: []string{"one", "two", "three"},
			modes:        []requeststate.Mode{requeststate.ModeStrict, requeststate.ModeDerived},
			origins:      []string{"https://app.example", "http://localhost:3000"},
		})},
		{"blank lists", onLambda, map[string]string{"MRTR_KMS_ACCEPT_KEY_IDS": " , ", "MRTR_KMS_MODE": ",", "MRTR_ALLOWED_ORIGINS": " "}, lambda(settings{flowTTL: time.Hour})},
		{"least", onLambda, map[string]string{
			"MRTR_ROUND_TTL": "1s", "MRTR_FLOW_TTL": "1s", "MRTR_MAX_STATE_BYTES": "1024", "MRTR_MAX_BODY_BYTES": "1024", "MRTR_MAX_ROUNDS": "1",
		}, lambda(settings{roundTTL: time.Second, flowTTL: time.Second, maxStateBytes: 1024, maxBodyBytes: 1024, maxRounds: 1})},
		{"most", onLambda, map[string]string{
			"MRTR_ROUND_TTL": "1h", "MRTR_FLOW_TTL": "720h", "MRTR_MAX_STATE_BYTES": "4194304", "MRTR_MAX_BODY_BYTES": "10485760", "MRTR_MAX_ROUNDS": "1000",
		}, lambda(settings{roundTTL: time.Hour, flowTTL: 720 * time.Hour, maxStateBytes: 4 << 20, maxBodyBytes: 10 << 20, maxRounds: 1000})},
		{"a flow shorter than a round's default", onLambda, map[string]string{"MRTR_FLOW_TTL": "5m"}, lambda(settings{roundTTL: 5 * time.Minute, flowTTL: 5 * time.Minute})},
		{"a flow longer than a round's default", onLambda, map[string]string{"MRTR_FLOW_TTL": "2h"}, lambda(settings{roundTTL: 10 * time.Minute, flowTTL: 2 * time.Hour})},
		{"gateway and table", onLambda, map[string]string{"MRTR_GATEWAY_TIMEOUT": "15m", "MRTR_REPLAY_TABLE": " claims "}, lambda(settings{
			flowTTL: time.Hour, gatewayTimeout: 15 * time.Minute, replayTable: "claims",
		})},
		{"response mode", onLambda, map[string]string{"MRTR_RESPONSE_MODE": "buffered"}, lambda(settings{flowTTL: time.Hour})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readSettings(func(name string) string {
				if v, ok := tt.env[name]; ok {
					return v
				}
				return tt.base[name]
			})
			require.NoError(t, err)
			if tt.want.mode == "" {
				tt.want.mode = lambdahttp.ModeBuffered
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestGatewayLimit(t *testing.T) {
	for _, tt := range []struct {
		mode lambdahttp.Mode
		said time.Duration
		want time.Duration
	}{
		{lambdahttp.ModeBuffered, 0, 29 * time.Second},
		{lambdahttp.ModeBuffered, time.Minute, time.Minute},
		{lambdahttp.ModeStream, 0, 0},
		{lambdahttp.ModeStream, time.Minute, time.Minute},
	} {
		s := settings{mode: tt.mode, gatewayTimeout: tt.said}
		require.Equal(t, tt.want, s.gatewayLimit())
	}
}

// TestSingleUse: which store there is.
func TestSingleUse(t *testing.T) {
	var called []string
	made := new(mrtr.MemoryStore)
	hook := func(cfg aws.Config, table string) (mrtr.SingleUseStore, error) {
		called = append(called, cfg.Region+"/"+table)
		if table == "bad" {
			return nil, errors.New("no such name")
		}
		return made, nil
	}
	cfg := aws.Config{Region: "eu-central-1"}
	for _, onLambda := range []bool{true, false} {
		s := settings{onLambda: onLambda, replayTable: "claims"}
		got, err := s.singleUse(cfg, Options{SingleUse: hook})
		require.NoError(t, err)
		require.Same(t, made, got)
		_, err = s.singleUse(cfg, Options{})
		require.ErrorContains(t, err, "MRTR_REPLAY_TABLE is set, but this program has no store for it")
		s.replayTable = "bad"
		_, err = s.singleUse(cfg, Options{SingleUse: hook})
		require.EqualError(t, err, "reading MRTR_REPLAY_TABLE: no such name")
	}
	require.Equal(t, []string{"eu-central-1/claims", "eu-central-1/bad", "eu-central-1/claims", "eu-central-1/bad"}, called)

	for _, opts := range []Options{{}, {SingleUse: hook}} {
		got, err := (&settings{onLambda: true}).singleUse(cfg, opts)
		require.NoError(t, err)
		require.Nil(t, got, "a claim that another instance does not see is none")
		got, err = (&settings{}).singleUse(cfg, opts)
		require.NoError(t, err)
		require.IsType(t, made, got)
		require.NotSame(t, made, got)
	}
}
