package kmstest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"
)

func newServer(t *testing.T, opts Options) *Server {
	s := NewServer(opts)
	t.Cleanup(s.Close)
	return s
}

// once is the SDK without retries.
func once(s *Server) *kms.Client {
	return s.Client(func(o *kms.Options) { o.Retryer = aws.NopRetryer{} })
}

func input(keyID string) *kms.GenerateMacInput {
	return &kms.GenerateMacInput{KeyId: &keyID, MacAlgorithm: types.MacAlgorithmSpecHmacSha256, Message: []byte("message")}
}

func requireCode(t *testing.T, want string, err error) {
	t.Helper()
	var api smithy.APIError
	require.ErrorAs(t, err, &api)
	require.Equal(t, want, api.ErrorCode())
}

func TestGenerateMac(t *testing.T) {
	s := newServer(t, Options{})
	k := s.CreateKey(KeyOptions{})
	s.SetAlias("alias/a", k)
	mac := hmac.New(sha256.New, k.material)
	mac.Write([]byte("message"))
	want := mac.Sum(nil)
	for _, name := range []string{k.ID, k.ARN, "alias/a", s.AliasARN("alias/a")} {
		out, err := once(s).GenerateMac(context.Background(), input(name))
		require.NoError(t, err)
		require.Equal(t, k.ARN, *out.KeyId)
		require.Equal(t, want, out.Mac)
		require.Equal(t, types.MacAlgorithmSpecHmacSha256, out.MacAlgorithm)
	}
	require.Equal(t, 4, k.Calls())
	require.Equal(t, Call{Operation: "GenerateMac", KeyID: "alias/a", KeyARN: k.ARN, Algorithm: "HMAC_SHA_256", Message: []byte("message")}, s.Calls()[2])

	other := s.CreateKey(KeyOptions{})
	out, err := once(s).GenerateMac(context.Background(), input(other.ID))
	require.NoError(t, err)
	require.NotEqual(t, want, out.Mac)
	s.SetAlias("alias/a", other)
	out, err = once(s).GenerateMac(context.Background(), input("alias/a"))
	require.NoError(t, err)
	require.Equal(t, other.ARN, *out.KeyId)
}

func TestSpecs(t *testing.T) {
	s := newServer(t, Options{})
	size := map[Spec]int{HMAC224: 28, HMAC256: 32, HMAC384: 48, HMAC512: 64}
	for _, spec := range []Spec{HMAC224, HMAC256, HMAC384, HMAC512, Symmetric} {
		k := s.CreateKey(KeyOptions{Spec: spec})
		for name, a := range algorithms {
			in := input(k.ID)
			in.MacAlgorithm = types.MacAlgorithmSpec(name)
			out, err := once(s).GenerateMac(context.Background(), in)
			if a.spec != spec {
				requireCode(t, "InvalidKeyUsageException", err)
				continue
			}
			require.NoError(t, err)
			require.Len(t, out.Mac, size[spec])
		}
	}
}

func TestRefusals(t *testing.T) {
	s := newServer(t, Options{})
	k := s.CreateKey(KeyOptions{})
	s.SetAlias("alias/a", k)
	tests := map[string]struct {
		before func()
		change func(*kms.GenerateMacInput)
		want   string
	}{
		"disabled":         {func() { k.SetState(Disabled) }, nil, "DisabledException"},
		"pending deletion": {func() { k.SetState(PendingDeletion) }, nil, "KMSInvalidStateException"},
		"denied":           {func() { k.SetState(Denied) }, nil, "AccessDeniedException"},
		"no such alias":    {nil, func(in *kms.GenerateMacInput) { in.KeyId = aws.String("alias/b") }, "NotFoundException"},
		"no such key":      {nil, func(in *kms.GenerateMacInput) { in.KeyId = aws.String(k.ID[1:]) }, "NotFoundException"},
		"ARN elsewhere": {nil, func(in *kms.GenerateMacInput) {
			in.KeyId = aws.String(strings.Replace(k.ARN, s.region, "us-east-1", 1))
		}, "NotFoundException"},
		"ARN of an id":      {nil, func(in *kms.GenerateMacInput) { in.KeyId = aws.String(s.arn(k.ID)) }, "NotFoundException"},
		"empty key":         {nil, func(in *kms.GenerateMacInput) { in.KeyId = aws.String("") }, "ValidationException"},
		"long key":          {nil, func(in *kms.GenerateMacInput) { in.KeyId = aws.String(strings.Repeat("a", 2049)) }, "ValidationException"},
		"unknown algorithm": {nil, func(in *kms.GenerateMacInput) { in.MacAlgorithm = "HMAC_MD5" }, "ValidationException"},
		"empty message":     {nil, func(in *kms.GenerateMacInput) { in.Message = []byte{} }, "ValidationException"},
		"4,096 bytes":       {nil, func(in *kms.GenerateMacInput) { in.Message = make([]byte, 4096) }, ""},
		"4,097 bytes":       {nil, func(in *kms.GenerateMacInput) { in.Message = make([]byte, 4097) }, "ValidationException"},
		"dry run":           {nil, func(in *kms.GenerateMacInput) { in.DryRun = aws.Bool(true) }, "DryRunOperationException"},
		"dry run, disabled": {func() { k.SetState(Disabled) }, func(in *kms.GenerateMacInput) { in.DryRun = aws.Bool(true) }, "DisabledException"},
		"no dry run":        {nil, func(in *kms.GenerateMacInput) { in.DryRun = aws.Bool(false) }, ""},
		"grant tokens":      {nil, func(in *kms.GenerateMacInput) { in.GrantTokens = make([]string, 11) }, "ValidationException"},
		"throttled":         {func() { s.Throttle(1) }, nil, "ThrottlingException"},
		"any failure":       {func() { s.Fail(1, 503, "ServiceUnavailable") }, nil, "ServiceUnavailable"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			k.SetState(Enabled)
			s.Reset()
			if tt.before != nil {
				tt.before()
			}
			in := input("alias/a")
			if tt.change != nil {
				tt.change(in)
			}
			_, err := once(s).GenerateMac(context.Background(), in)
			require.Equal(t, 1, s.Count())
			require.Equal(t, tt.want, s.Calls()[0].Error)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			requireCode(t, tt.want, err)
		})
	}
	k.SetState(Enabled)
	_, err := once(s).DescribeKey(context.Background(), &kms.DescribeKeyInput{KeyId: &k.ID})
	requireCode(t, "AccessDeniedException", err)
	s.DeleteAlias("alias/a")
	_, err = once(s).GenerateMac(context.Background(), input("alias/a"))
	requireCode(t, "NotFoundException", err)
}

// What the SDK always gets right is checked as well.
func TestRawRequests(t *testing.T) {
	s := newServer(t, Options{})
	k := s.CreateKey(KeyOptions{})
	const credential = "AWS4-HMAC-SHA256 Credential=" + accessKeyID + "/20260728/" + DefaultRegion + "/kms/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature="
	good := credential + strings.Repeat("0", 64)
	body := `{"KeyId":"` + k.ID + `","MacAlgorithm":"HMAC_SHA_256","Message":"bQ=="}`
	tests := map[string]struct {
		header map[string]string // changes; an empty value removes
		method string
		body   string
		want   string
	}{
		"good":               {},
		"GET":                {method: "GET", want: "UnknownOperationException"},
		"plain JSON":         {header: map[string]string{"Content-Type": "application/json"}, want: "UnknownOperationException"},
		"no target":          {header: map[string]string{"X-Amz-Target": ""}, want: "UnknownOperationException"},
		"other service":      {header: map[string]string{"X-Amz-Target": "Other.GenerateMac"}, want: "UnknownOperationException"},
		"other operation":    {header: map[string]string{"X-Amz-Target": "TrentService.Decrypt"}, want: "AccessDeniedException"},
		"no authorization":   {header: map[string]string{"Authorization": ""}, want: "MissingAuthenticationTokenException"},
		"bearer":             {header: map[string]string{"Authorization": "Bearer x"}, want: "IncompleteSignatureException"},
		"no signature":       {header: map[string]string{"Authorization": credential}, want: "IncompleteSignatureException"},
		"no date":            {header: map[string]string{"X-Amz-Date": ""}, want: "IncompleteSignatureException"},
		"other date":         {header: map[string]string{"X-Amz-Date": "20260729T000000Z"}, want: "InvalidSignatureException"},
		"other region":       {header: map[string]string{"Authorization": strings.Replace(good, DefaultRegion, "us-east-1", 1)}, want: "InvalidSignatureException"},
		"other service name": {header: map[string]string{"Authorization": strings.Replace(good, "/kms/", "/sts/", 1)}, want: "InvalidSignatureException"},
		"target not signed":  {header: map[string]string{"Authorization": strings.Replace(good, ";x-amz-target", "", 1)}, want: "InvalidSignatureException"},
		"other access key":   {header: map[string]string{"Authorization": strings.Replace(good, accessKeyID, "AKIDOTHER", 1)}, want: "UnrecognizedClientException"},
		"not JSON":           {body: "x", want: "SerializationException"},
		"wrong type":         {body: `{"KeyId":1}`, want: "SerializationException"},
		"bad base64":         {body: strings.Replace(body, "bQ==", "?", 1), want: "SerializationException"},
		"no key":             {body: `{"MacAlgorithm":"HMAC_SHA_256","Message":"bQ=="}`, want: "ValidationException"},
		"no algorithm":       {body: `{"KeyId":"` + k.ID + `","Message":"bQ=="}`, want: "ValidationException"},
		"no message":         {body: `{"KeyId":"` + k.ID + `","MacAlgorithm":"HMAC_SHA_256"}`, want: "ValidationException"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.method == "" {
				tt.method = http.MethodPost
			}
			if tt.body == "" {
				tt.body = body
			}
			r, err := http.NewRequest(tt.method, s.URL, strings.NewReader(tt.body))
			require.NoError(t, err)
			r.Header = http.Header{"Content-Type": {contentType}, "X-Amz-Target": {"TrentService.GenerateMac"},
				"X-Amz-Date": {"20260728T133100Z"}, "Authorization": {good}}
			for name, value := range tt.header {
				r.Header.Del(name)
				if value != "" {
					r.Header.Set(name, value)
				}
			}
			res, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			defer res.Body.Close()
			got, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.Equal(t, contentType, res.Header.Get("Content-Type"))
			if tt.want == "" {
				require.Equal(t, 200, res.StatusCode)
				require.Contains(t, string(got), k.ARN)
				return
			}
			require.GreaterOrEqual(t, res.StatusCode, 400)
			require.Contains(t, string(got), `"__type":"`+tt.want+`"`)
		})
	}
}

func TestDropAndOutage(t *testing.T) {
	s := newServer(t, Options{})
	k := s.CreateKey(KeyOptions{})
	s.Drop(1)
	_, err := once(s).GenerateMac(context.Background(), input(k.ID))
	require.ErrorContains(t, err, "EOF")
	require.Equal(t, Dropped, s.Calls()[0].Error)
	_, err = once(s).GenerateMac(context.Background(), input(k.ID))
	require.NoError(t, err)
	s.SetOutage(true)
	for range 2 {
		_, err = once(s).GenerateMac(context.Background(), input(k.ID))
		require.ErrorContains(t, err, "EOF")
	}
	s.SetOutage(false)
	_, err = once(s).GenerateMac(context.Background(), input(k.ID))
	require.NoError(t, err)
	require.Equal(t, 5, k.Calls())
}

// A reply that takes longer than the caller has does not come.
func TestLatency(t *testing.T) {
	s := newServer(t, Options{})
	k := s.CreateKey(KeyOptions{})
	s.SetLatency(1 << 40)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		_, err := once(s).GenerateMac(ctx, input(k.ID))
		done <- err
	}()
	for s.Count() == 0 { // read, and now slow to answer
		select {
		case err := <-done:
			require.Fail(t, "answered", "%v", err)
		default:
			runtime.Gosched()
		}
	}
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	s.SetLatency(0)
	_, err := once(s).GenerateMac(context.Background(), input(k.ID))
	require.NoError(t, err)
}

func TestReplica(t *testing.T) {
	a, b := newServer(t, Options{}), newServer(t, Options{Region: "us-east-1"})
	k := a.CreateKey(KeyOptions{MultiRegion: true})
	require.True(t, strings.HasPrefix(k.ID, "mrk-"))
	replica := k.Replicate(b)
	require.Equal(t, k.ID, replica.ID)
	require.NotEqual(t, k.ARN, replica.ARN)
	first, err := once(a).GenerateMac(context.Background(), input(k.ID))
	require.NoError(t, err)
	k.SetState(Disabled)
	second, err := once(b).GenerateMac(context.Background(), input(k.ID))
	require.NoError(t, err)
	require.True(t, bytes.Equal(first.Mac, second.Mac))
	require.Equal(t, replica.ARN, *second.KeyId)
	require.Panics(t, func() { a.CreateKey(KeyOptions{}).Replicate(b) })
	require.Panics(t, func() { k.Replicate(a) })
	require.Panics(t, func() { a.SetAlias("a", k) })
	require.Panics(t, func() { a.SetAlias("alias/a", replica) })
}

// A child process finds the server by its environment alone.
func TestChildProcess(t *testing.T) {
	if keyID := os.Getenv("KMSTEST_CHILD_KEY"); keyID != "" {
		cfg, err := config.LoadDefaultConfig(context.Background())
		require.NoError(t, err)
		_, err = kms.NewFromConfig(cfg).GenerateMac(context.Background(), input(keyID))
		require.NoError(t, err)
		return
	}
	for _, opts := range []Options{{}, {TLS: true, Region: "ap-southeast-2"}} {
		for _, godebug := range []string{"", "fips140=only"} {
			s := newServer(t, opts)
			require.Equal(t, opts.TLS, strings.HasPrefix(s.URL, "https://"))
			k := s.CreateKey(KeyOptions{})
			cmd := exec.Command(os.Args[0], "-test.run=^TestChildProcess$")
			cmd.Env = append(append(os.Environ(), s.Env()...), "KMSTEST_CHILD_KEY="+k.ID, "GODEBUG="+godebug)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Equal(t, 1, k.Calls())
			_, err = s.Client().GenerateMac(context.Background(), input(k.ID))
			require.NoError(t, err)
			dir := s.caDir
			s.Close()
			if opts.TLS {
				require.NoDirExists(t, dir)
			}
		}
	}
}
