package dynamostore

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
)

const flow = "0123456789abcdef0123456789abcdef"

var (
	these = [32]byte{0: 1, 31: 0xff}
	those = [32]byte{0: 2}
	until = time.Unix(1_800_000_000, 999)
)

func TestClaim(t *testing.T) {
	f := newFake(t, testRegion, testTable)
	s := f.store(t)
	require.NoError(t, s.Claim(t.Context(), flow, these, until))
	require.Equal(t, map[string]item{flow: {
		"flow":    {"S": flow},
		"answers": {"B": base64.StdEncoding.EncodeToString(these[:])},
		"expires": {"N": "1800003600"},
	}}, f.items(testTable))

	require.NoError(t, s.Claim(t.Context(), flow, these, until), "a call whose reply was lost")
	require.NoError(t, f.store(t).Claim(t.Context(), flow, these, until), "the same by another instance")
	for range 2 {
		err := s.Claim(t.Context(), flow, those, until)
		require.ErrorIs(t, err, mrtr.ErrClaimed)
		require.NotContains(t, err.Error(), flow)
	}
	require.NoError(t, s.Claim(t.Context(), strings.Repeat("f", 32), those, until), "another flow")
	require.NoError(t, s.Claim(t.Context(), flow, these, until), "after forks were refused")
	require.Equal(t, []string{"ok", "ok", "ok", "ConditionalCheckFailedException", "ConditionalCheckFailedException", "ok", "ok"}, f.took())
}

// TestParallelClaims: of two sets of answers one wins, for everybody, whatever
// instances claim and however often.
func TestParallelClaims(t *testing.T) {
	f := newFake(t, testRegion, testTable)
	const claims = 50
	for round := range 10 {
		id := fmt.Sprintf("%032x", round)
		var (
			wg   sync.WaitGroup
			gate = make(chan struct{})
			errs [claims]error
		)
		for i := range claims {
			s := f.store(t)
			wg.Go(func() {
				<-gate
				errs[i] = s.Claim(t.Context(), id, [][32]byte{these, those}[i%2], until)
			})
		}
		close(gate)
		wg.Wait()
		winner := 0
		if errs[1] == nil {
			winner = 1
		}
		for i, err := range errs {
			if i%2 == winner {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, mrtr.ErrClaimed)
			}
		}
	}
}

// TestAttempts: what passes is tried again, what does not is not.
func TestAttempts(t *testing.T) {
	throttled := fault{status: 400, code: "ProvisionedThroughputExceededException"}
	unreadable := fault{body: "<html>"}
	for _, tt := range []struct {
		name   string
		faults []fault
		kind   Kind // empty: the claim is made
		code   string
		took   int
	}{
		{"throttled once", []fault{throttled}, "", "", 2},
		{"throttled by another name", []fault{{status: 400, code: "ThrottlingException"}, {status: 429, code: "Whatever"}}, "", "", 3},
		{"throttled on", []fault{throttled, throttled, throttled, throttled, throttled}, KindThrottled, throttled.code, 4},
		{"failing", []fault{{status: 500, code: "InternalServerError"}, {status: 503, code: "ServiceUnavailable"}, {status: 502, code: "X"}}, "", "", 4},
		{"dropped", []fault{{}, {}}, "", "", 3},
		{"a reply that is lost", []fault{{after: true}}, "", "", 2},
		{"a reply that makes no sense", []fault{unreadable}, "", "", 2},
		{"replies that make no sense", []fault{unreadable, unreadable, unreadable, unreadable}, KindUnexpected, "", 4},
		{"denied", []fault{{status: 400, code: "AccessDeniedException"}}, KindDenied, "AccessDeniedException", 1},
		{"expired credentials", []fault{{status: 400, code: "ExpiredTokenException"}}, KindDenied, "ExpiredTokenException", 1},
		{"a table of another kind", []fault{{status: 400, code: "ValidationException"}}, KindRejected, "ValidationException", 1},
		{"throttled, then denied", []fault{throttled, {status: 400, code: "AccessDeniedException"}}, KindDenied, "AccessDeniedException", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, testRegion, testTable)
			f.upset(tt.faults...)
			err := f.store(t).Claim(t.Context(), flow, these, until)
			require.Len(t, f.took(), tt.took)
			if tt.kind == "" {
				require.NoError(t, err)
				require.Len(t, f.items(testTable), 1)
				return
			}
			failed, ok := errors.AsType[*Error](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, tt.kind, failed.Kind)
			require.Equal(t, tt.code, failed.Code)
			require.NotErrorIs(t, err, mrtr.ErrClaimed)
			require.NotContains(t, err.Error(), "injected", "the service's text is not passed on")
		})
	}
}

// TestLostReplies: a claim whose every reply was lost holds, and claiming again
// finds out.
func TestLostReplies(t *testing.T) {
	f := newFake(t, testRegion, testTable)
	f.upset(fault{after: true}, fault{after: true}, fault{after: true}, fault{after: true})
	err := f.store(t).Claim(t.Context(), flow, these, until)
	failed, ok := errors.AsType[*Error](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, KindUnreachable, failed.Kind)
	require.Equal(t, []string{"lost", "lost", "lost", "lost"}, f.took())
	require.ErrorIs(t, f.store(t).Claim(t.Context(), flow, those, until), mrtr.ErrClaimed)
	require.NoError(t, f.store(t).Claim(t.Context(), flow, these, until))
}

// TestNotThere covers what no answer of a table's says.
func TestNotThere(t *testing.T) {
	f := newFake(t, testRegion, testTable)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, tt := range []struct {
		name string
		edit func(*aws.Config)
		kind Kind
	}{
		{"another table", nil, KindNotFound},
		{"another region", func(c *aws.Config) { c.Region = "eu-west-1" }, KindDenied},
		{"nobody listens", func(c *aws.Config) { c.BaseEndpoint = &gone.URL }, KindUnreachable},
		{"no credentials", func(c *aws.Config) {
			c.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{}, errors.New("none")
			})
		}, KindNotSent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg, table := f.config(), testTable
			if tt.edit == nil {
				table = "elsewhere"
			} else {
				tt.edit(&cfg)
			}
			s, err := Open(cfg, table)
			require.NoError(t, err)
			err = s.Claim(t.Context(), flow, these, until)
			failed, ok := errors.AsType[*Error](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, tt.kind, failed.Kind, "%v", err)
		})
	}
	require.Empty(t, f.items(testTable))
}

// TestTimeouts: an attempt that gets no answer is cut off and made again, and
// the caller's context ends all of it.
func TestTimeouts(t *testing.T) {
	f := newFake(t, testRegion, testTable)
	never := make(chan struct{})
	hold := fault{hold: never}

	f.upset(hold)
	s := f.store(t)
	s.attempt = 50 * time.Millisecond
	s.limit = time.Minute
	require.NoError(t, s.Claim(t.Context(), flow, these, until))

	f.upset(hold, hold, hold, hold)
	s.attempt = time.Millisecond
	err := s.Claim(t.Context(), flow, these, until)
	failed, ok := errors.AsType[*Error](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, Error{Kind: KindUnreachable, Detail: "no answer in time"}, *failed)

	f = newFake(t, testRegion, testTable)
	f.upset(hold)
	s = f.store(t)
	s.limit = time.Millisecond // all together, before an attempt is over
	err = s.Claim(t.Context(), flow, these, until)
	failed, ok = errors.AsType[*Error](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, KindUnreachable, failed.Kind)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Claim(ctx, flow, these, until), context.Canceled)
	ctx, cancel = context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	require.ErrorIs(t, s.Claim(ctx, flow, these, until), context.DeadlineExceeded)
}

// TestPutItemAlone: nothing but PutItem is asked for, whatever the environment
// says of endpoint discovery, and the SDK's own retries are off.
func TestPutItemAlone(t *testing.T) {
	f := newFake(t, testRegion, testTable)
	client := dynamodb.NewFromConfig(f.config(), func(o *dynamodb.Options) {
		o.EndpointDiscovery.EnableEndpointDiscovery = aws.EndpointDiscoveryEnabled
		o.RetryMaxAttempts = 9
	})
	s, err := New(client, Options{Table: testTable, Region: testRegion})
	require.NoError(t, err)
	f.upset(fault{status: 500, code: "InternalServerError"})
	require.NoError(t, s.Claim(t.Context(), flow, these, until))
	require.Equal(t, []string{"InternalServerError", "ok"}, f.took())
}

func TestNew(t *testing.T) {
	f := newFake(t, testRegion)
	s := f.store(t)
	require.Equal(t, "dynamodb:eu-central-1/"+testTable, s.Home())
	for _, bad := range []Options{
		{},
		{Region: testRegion},
		{Table: testTable},
		{Table: "ab", Region: testRegion},
		{Table: "arn:aws:dynamodb:eu-central-1:111122223333:table/x", Region: testRegion},
		{Table: testTable + "\n", Region: testRegion},
		{Table: strings.Repeat("x", 256), Region: testRegion},
		{Table: testTable, Region: "eu/central"},
	} {
		_, err := New(s.api, bad)
		require.Error(t, err)
		_, err = Open(aws.Config{Region: bad.Region}, bad.Table)
		require.Error(t, err)
	}
	_, err := New(nil, Options{Table: testTable, Region: testRegion})
	require.Error(t, err)
}

// TestErrorIsDiscreet: errors have no part of what was sent.
func TestErrorIsDiscreet(t *testing.T) {
	f := newFake(t, testRegion, testTable)
	f.upset(fault{status: 400, code: "ValidationException"}, fault{}, fault{}, fault{}, fault{})
	for range 2 {
		err := f.store(t).Claim(t.Context(), flow, these, until)
		require.Error(t, err)
		text := fmt.Sprintf("%v %+v %#v", err, err, err)
		for _, secret := range []string{flow, base64.StdEncoding.EncodeToString(these[:]), accessKey, fmt.Sprintf("%x", these)} {
			require.NotContains(t, text, secret)
		}
		require.False(t, bytes.Contains([]byte(text), these[:]))
	}
}
