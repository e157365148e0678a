package awsfailure_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/awsfailure"
)

func TestOf(t *testing.T) {
	api := &smithy.GenericAPIError{Code: "ThrottlingException", Message: "S3CRET"}
	for _, tt := range []struct {
		name string
		err  error
		want awsfailure.Failure
	}{
		{"an answer", fmt.Errorf("operation: %w", api), awsfailure.Failure{Place: awsfailure.Answered, Code: "ThrottlingException"}},
		{"an answer with its status", &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: 503}}, Err: api},
			awsfailure.Failure{Place: awsfailure.Answered, Code: "ThrottlingException", Status: 503}},
		{"no such host", &net.DNSError{Err: "no such host", Name: "kms.example"}, awsfailure.Failure{Place: awsfailure.Unreachable, Detail: "lookup kms.example: no such host"}},
		{"refused", &net.OpError{Op: "dial", Err: errors.New("connection refused")}, awsfailure.Failure{Place: awsfailure.Unreachable, Detail: "dial: connection refused"}},
		{"no time left", fmt.Errorf("S3CRET: %w", context.DeadlineExceeded), awsfailure.Failure{Place: awsfailure.Unreachable, Detail: "no answer in time"}},
		{"cancelled", context.Canceled, awsfailure.Failure{Place: awsfailure.Unreachable, Detail: "no answer in time"}},
		{"sent, not answered", &smithyhttp.RequestSendError{Err: errors.New("S3CRET")}, awsfailure.Failure{Place: awsfailure.Unreachable, Detail: "connection failed"}},
		{"unreadable", &smithy.DeserializationError{Err: errors.New("x"), Snapshot: []byte("S3CRET")}, awsfailure.Failure{Place: awsfailure.Unreadable, Detail: "unreadable reply"}},
		{"no credentials", errors.New("S3CRET"), awsfailure.Failure{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := awsfailure.Of(tt.err)
			require.Equal(t, tt.want, got)
			require.NotContains(t, fmt.Sprintf("%+v", got), "S3CRET")
		})
	}
	answered := func(code string, status int) string {
		return awsfailure.Failure{Place: awsfailure.Answered, Code: code, Status: status}.Kind()
	}
	require.Equal(t, "denied", answered("ExpiredToken", 400))
	require.Equal(t, "rejected", answered("ValidationException", 400))
	require.Equal(t, "throttled", answered("", 429))
	require.Equal(t, "throttled", answered("Throttling", 400))
	require.Equal(t, "internal", answered("", 500))
	require.Equal(t, "internal", answered("ServiceUnavailable", 400))
	require.Equal(t, "unreachable", awsfailure.Failure{Place: awsfailure.Unreachable}.Kind())
	require.Equal(t, "unexpected", awsfailure.Failure{Place: awsfailure.Unreadable}.Kind())
	require.Equal(t, "not_sent", awsfailure.Failure{}.Kind())
}
