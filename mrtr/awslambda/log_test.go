package awslambda

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp"
)

// TestLogger: on Lambda a record says which invocation and which X-Ray trace it
// belongs to.
func TestLogger(t *testing.T) {
	const event = `{"version":"2.0","rawPath":"/mcp","requestContext":{"requestId":"gateway-1","domainName":"x.execute-api.eu-central-1.amazonaws.com","http":{"method":"GET"}}}`
	for _, tt := range []struct {
		name, trace, want string
	}{
		{"traced", "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1", "1-5759e988-bd862e3fe1be46a994272793"},
		{"with more", "Self=1-1;Root=1-5759e988-bd862e3fe1be46a994272793;Lineage=a:0", "1-5759e988-bd862e3fe1be46a994272793"},
		{"not traced", "", ""},
		{"no id", "Root=secret;Parent=1", ""},
		{"of the right length", "Root=1-5759e988-secretsecretsecretsecre;Sampled=1", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			logger := newLogger(&out, true)
			h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				logger.With("a", 1).WithGroup("g").InfoContext(r.Context(), "served", "b", 2)
			})
			ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "lambda-1"})
			//lint:ignore SA1029 the key that the Lambda loop uses
			ctx = context.WithValue(ctx, "x-amzn-trace-id", tt.trace)
			_, err := lambdahttp.Handler(h, lambdahttp.Options{Logger: logger}).Invoke(ctx, []byte(event))
			require.NoError(t, err)
			require.NotContains(t, out.String(), "secret")
			var record struct {
				Msg string `json:"msg"`
				A   int    `json:"a"`
				G   struct {
					B           int    `json:"b"`
					RequestID   string `json:"requestId"`
					XRayTraceID string `json:"xrayTraceId"`
				} `json:"g"`
			}
			require.NoError(t, json.Unmarshal(out.Bytes(), &record))
			require.Equal(t, "served", record.Msg)
			require.Equal(t, 1, record.A)
			require.Equal(t, 2, record.G.B)
			require.Equal(t, "lambda-1", record.G.RequestID)
			require.Equal(t, tt.want, record.G.XRayTraceID)
		})
	}
	var out bytes.Buffer
	newLogger(&out, false).Info("ready")
	require.Contains(t, out.String(), "level=INFO msg=ready")
	newLogger(io.Discard, true).Info("outside of invocations")
}
