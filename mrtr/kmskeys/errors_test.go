package kmskeys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

func TestKindsOfErrors(t *testing.T) {
	tests := map[string]struct {
		breaks func(*world) API
		kind   Kind
		code   string
	}{
		"throttled":        {func(w *world) API { w.Throttle(9); return w.client() }, KindThrottled, "ThrottlingException"},
		"throttled by 429": {func(w *world) API { w.Fail(9, 429, "SlowDownPlease"); return w.client() }, KindThrottled, "SlowDownPlease"},
		"disabled":         {func(w *world) API { w.key.SetState(kmstest.Disabled); return w.client() }, KindDisabled, "DisabledException"},
		"pending deletion": {func(w *world) API { w.key.SetState(kmstest.PendingDeletion); return w.client() }, KindInvalidState, "KMSInvalidStateException"},
		"denied":           {func(w *world) API { w.key.SetState(kmstest.Denied); return w.client() }, KindDenied, "AccessDeniedException"},
		"foreign credentials": {func(w *world) API {
			return w.Client(func(o *kms.Options) {
				o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
					return aws.Credentials{AccessKeyID: "AKIDOTHER", SecretAccessKey: "some-other-secret"}, nil
				})
			})
		}, KindDenied, "UnrecognizedClientException"},
		"no credentials": {func(w *world) API {
			return w.Client(func(o *kms.Options) {
				o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
					return aws.Credentials{}, errors.New("hunter2")
				})
			})
		}, KindNotSent, ""},
		"another region": {func(w *world) API {
			return w.Client(func(o *kms.Options) { o.Region = "us-east-1" })
		}, KindDenied, "InvalidSignatureException"},
		"no such alias": {func(w *world) API { w.DeleteAlias(alias); return w.client() }, KindNotFound, "NotFoundException"},
		"HMAC_512": {func(w *world) API {
			w.SetAlias(alias, w.CreateKey(kmstest.KeyOptions{Spec: kmstest.HMAC512}))
			return w.client()
		}, KindWrongKey, "InvalidKeyUsageException"},
		"an encryption key": {func(w *world) API {
			w.SetAlias(alias, w.CreateKey(kmstest.KeyOptions{Spec: kmstest.Symmetric}))
			return w.client()
		}, KindWrongKey, "InvalidKeyUsageException"},
		"internal":       {func(w *world) API { w.Fail(9, 500, "KMSInternalException"); return w.client() }, KindInternal, "KMSInternalException"},
		"bad gateway":    {func(w *world) API { w.Fail(9, 502, "Proxy"); return w.client() }, KindInternal, "Proxy"},
		"anything else":  {func(w *world) API { w.Fail(9, 400, "ValidationException"); return w.client() }, KindRejected, "ValidationException"},
		"dropped":        {func(w *world) API { w.SetOutage(true); return w.client() }, KindUnreachable, ""},
		"nobody listens": {func(w *world) API { c := w.client(); w.Close(); return c }, KindUnreachable, ""},
		"no such host": {func(*world) API {
			return apiFunc(func(context.Context, *kms.GenerateMacInput, ...func(*kms.Options)) (*kms.GenerateMacOutput, error) {
				return nil, fmt.Errorf("sending: %w", &net.DNSError{Err: "no such host", Name: "kms.example", IsNotFound: true})
			})
		}, KindUnreachable, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bothModes(t, func(t *testing.T, m []requeststate.Mode) {
				w := newWorld(t)
				k := w.over(t, tt.breaks(w), Options{Modes: m})
				_, err := w.trySeal(k, tool)
				requireKind(t, tt.kind, err)
				var e *Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, tt.code, e.Code)
				require.Contains(t, err.Error(), string(tt.kind))
				require.NotContains(t, err.Error(), "hunter2")

				h := requeststate.Header{Mode: m[0], Purpose: tool, Fingerprint: fingerprintOf(w.key.ID)}
				if m[0] == derived {
					h.EpochStart = classFlow.epochAt(w.now())
				}
				_, err = k.OpenSecret(context.Background(), h, requeststate.Salt{})
				require.ErrorIs(t, err, requeststate.ErrUnavailable)
			})
		})
	}
}

// A reply that is not what was asked for is no secret, and the secret that may
// be in it shows nowhere.
func TestUnexpectedReplies(t *testing.T) {
	const secret = "0123456789abcdef0123456789ABCDEF"
	w := newWorld(t)
	good := func() *kms.GenerateMacOutput {
		return &kms.GenerateMacOutput{KeyId: &w.key.ARN, Mac: []byte(secret), MacAlgorithm: types.MacAlgorithmSpecHmacSha256}
	}
	other := w.CreateKey(kmstest.KeyOptions{}).ARN
	tests := map[string]struct {
		change func(*kms.GenerateMacOutput) *kms.GenerateMacOutput
		ok     bool
	}{
		"good":            {func(o *kms.GenerateMacOutput) *kms.GenerateMacOutput { return o }, true},
		"nothing":         {func(*kms.GenerateMacOutput) *kms.GenerateMacOutput { return nil }, false},
		"no key":          {func(o *kms.GenerateMacOutput) *kms.GenerateMacOutput { o.KeyId = nil; return o }, false},
		"no key's id":     {func(o *kms.GenerateMacOutput) *kms.GenerateMacOutput { o.KeyId = aws.String(alias); return o }, false},
		"another key":     {func(o *kms.GenerateMacOutput) *kms.GenerateMacOutput { o.KeyId = &other; return o }, false},
		"no MAC":          {func(o *kms.GenerateMacOutput) *kms.GenerateMacOutput { o.Mac = nil; return o }, false},
		"short MAC":       {func(o *kms.GenerateMacOutput) *kms.GenerateMacOutput { o.Mac = o.Mac[1:]; return o }, false},
		"long MAC":        {func(o *kms.GenerateMacOutput) *kms.GenerateMacOutput { o.Mac = append(o.Mac, 0); return o }, false},
		"other algorithm": {func(o *kms.GenerateMacOutput) *kms.GenerateMacOutput { o.MacAlgorithm = "HMAC_SHA_512"; return o }, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			reply := good()
			mac := reply.Mac
			reply = tt.change(reply)
			k := w.over(t, apiFunc(func(context.Context, *kms.GenerateMacInput, ...func(*kms.Options)) (*kms.GenerateMacOutput, error) {
				return reply, nil
			}), Options{KeyID: w.key.ID})
			sealKey, err := k.SealKey(context.Background(), tool, requeststate.Salt{})
			if tt.ok {
				require.NoError(t, err)
				require.Equal(t, make([]byte, len(secret)), mac, "the MAC is cleared")
				require.NotContains(t, fmt.Sprintf("%v %+v %#v", sealKey, sealKey, sealKey), secret)
				return
			}
			requireKind(t, KindUnexpected, err)
			require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), secret[1:])
		})
	}
}

// doFunc is an HTTP client that is a function.
type doFunc func(*http.Request) (*http.Response, error)

func (f doFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

func clientDoing(do doFunc) *kms.Client {
	return kms.New(kms.Options{
		Region: "eu-central-1", HTTPClient: do,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "not-a-secret"}, nil
		}),
	})
}

func reply(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}},
		Body: io.NopCloser(strings.NewReader(body))}
}

func TestDeadlines(t *testing.T) {
	const keyID = "1234abcd-12ab-34cd-56ef-1234567890ab"
	good := `{"KeyId":"arn:aws:kms:eu-central-1:111122223333:key/` + keyID + `","Mac":"` + strings.Repeat("QUFB", 10) + `QUE=","MacAlgorithm":"HMAC_SHA_256"}`
	hang := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	seal := func(do doFunc) (time.Duration, error) {
		k, err := New(clientDoing(do), Options{KeyID: keyID, Audience: "prod"})
		require.NoError(t, err)
		begin := time.Now()
		_, err = k.SealKey(context.Background(), tool, requeststate.Salt{})
		return time.Since(begin), err
	}

	t.Run("an attempt that hangs is followed by another", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			took, err := seal(func(r *http.Request) (*http.Response, error) {
				if n++; n == 1 {
					return hang(r)
				}
				return reply(200, good), nil
			})
			require.NoError(t, err)
			require.Equal(t, 2, n)
			require.GreaterOrEqual(t, took, attemptLimit)
			require.Less(t, took, callLimit)
		})
	})
	t.Run("a call ends in time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			took, err := seal(hang)
			requireKind(t, KindUnreachable, err)
			require.Equal(t, callLimit, took)
		})
	})
	t.Run("what the last attempt said is not lost", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			took, err := seal(func(r *http.Request) (*http.Response, error) {
				switch n++; n {
				case 1:
					return hang(r)
				default:
					r := reply(400, `{"__type":"ThrottlingException","message":"Rate exceeded"}`)
					r.Header.Set("X-Amz-Retry-After", "5000")
					r.Header.Set("Retry-After", "5")
					return r, nil
				}
			})
			requireKind(t, KindThrottled, err)
			require.LessOrEqual(t, took, callLimit)
		})
	})
	t.Run("a body that never ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, err := seal(func(r *http.Request) (*http.Response, error) {
				pr, pw := io.Pipe()
				context.AfterFunc(r.Context(), func() { pw.CloseWithError(r.Context().Err()) })
				res := reply(200, "")
				res.Body = pr
				return res, nil
			})
			requireKind(t, KindUnreachable, err)
		})
	})
	for name, body := range map[string]string{
		"not JSON":    `secret!{`,
		"wrong types": `{"KeyId":5,"Mac":"` + strings.Repeat("QUFB", 10) + `QUE="}`,
		"bad base64":  `{"KeyId":"x","Mac":"!secret!"}`,
		"HTML":        `<html>secret!</html>`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := seal(func(*http.Request) (*http.Response, error) { return reply(200, body), nil })
			requireKind(t, KindUnexpected, err)
			require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), "secret!")
		})
	}
}
