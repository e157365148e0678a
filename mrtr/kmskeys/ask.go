package kmskeys

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

const (
	attemptLimit = time.Second     // for one attempt of the AWS SDK's
	callLimit    = 3 * time.Second // for a call with all its attempts
)

// answer is what one call gave: the key that answered, and its secret.
type answer struct {
	key    requeststate.Fingerprint
	secret *requeststate.Secret
}

// ask has KMS compute the MAC of message under the key that ref names. It is
// the only place that calls KMS. The error is an *Error, unless ctx ended.
func (k *Keys) ask(ctx context.Context, ref keyRef, message []byte) (answer, error) {
	requeststate.CallsFrom(ctx).Add()
	seq := k.seq.Add(1)
	limited, cancel := context.WithTimeout(ctx, k.callLimit)
	defer cancel()

	var last error // of the last attempt, which says more than a time-out does
	out, err := k.api.GenerateMac(limited, &kms.GenerateMacInput{
		KeyId:        &ref.name,
		MacAlgorithm: types.MacAlgorithmSpecHmacSha256,
		Message:      message,
	}, func(o *kms.Options) {
		o.APIOptions = append(o.APIOptions, func(s *middleware.Stack) error {
			return s.Finalize.Insert(attempts{k.attemptLimit, &last}, "Retry", middleware.After)
		})
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return answer{}, leaving(ctx)
	case err != nil && limited.Err() != nil && last != nil:
		return answer{}, toError(last)
	case err != nil:
		return answer{}, toError(err)
	}
	return k.read(ref, seq, out)
}

// read checks a reply, and notes which key an alias names.
func (k *Keys) read(ref keyRef, seq uint64, out *kms.GenerateMacOutput) (answer, error) {
	if out == nil || out.KeyId == nil {
		return answer{}, &Error{Kind: KindUnexpected, Detail: "a reply without a key"}
	}
	defer clear(out.Mac)
	id := (*out.KeyId)[strings.LastIndexByte(*out.KeyId, '/')+1:]
	if !validKeyID(id) || ref.id != "" && ref.id != id {
		return answer{}, &Error{Kind: KindUnexpected, Detail: "a reply from another key"}
	}
	if len(out.Mac) != 32 || out.MacAlgorithm != types.MacAlgorithmSpecHmacSha256 {
		return answer{}, &Error{Kind: KindUnexpected, Detail: "a reply without an HMAC_SHA_256"}
	}
	secret, err := requeststate.NewSecret(out.Mac)
	if err != nil {
		return answer{}, &Error{Kind: KindUnexpected, Detail: "a secret that cannot be used"}
	}
	a := answer{key: fingerprintOf(id), secret: secret}
	if ref.alias {
		k.noteCurrent(a.key, seq)
	}
	return a, nil
}

// noteCurrent records which key the alias names, by the call made last.
func (k *Keys) noteCurrent(key requeststate.Fingerprint, seq uint64) {
	k.mu.Lock()
	if seq < k.currentSeq {
		k.mu.Unlock()
		return
	}
	before, moved := k.current, k.resolved && k.current != key
	k.current, k.currentSeq, k.resolved = key, seq, true
	k.mu.Unlock()
	if moved {
		k.log.Info("kms key alias moved", "from", hexOf(before), "to", hexOf(key))
	}
}

func hexOf(f requeststate.Fingerprint) string { return fmt.Sprintf("%x", f[:]) }

// leaving is the error of a caller whose context ended before KMS answered.
func leaving(ctx context.Context) error {
	return fmt.Errorf("kmskeys: waiting for KMS: %w (%w)", requeststate.ErrUnavailable, ctx.Err())
}

// attempts gives each of the SDK's attempts a deadline of its own, and keeps
// the last one's error.
type attempts struct {
	limit time.Duration
	last  *error
}

// ID names the middleware.
func (attempts) ID() string { return "mrtrAttemptLimit" }

// HandleFinalize runs one attempt.
func (a attempts) HandleFinalize(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
	limited, cancel := context.WithTimeout(ctx, a.limit)
	defer cancel()
	out, metadata, err := next.HandleFinalize(limited, in)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		// The SDK never retries what was cancelled, so say it as a time-out.
		err = attemptTimeout{}
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
		*a.last = err
	}
	return out, metadata, err
}

// attemptTimeout says that an attempt had no answer in time. The SDK retries it.
type attemptTimeout struct{}

func (attemptTimeout) Error() string        { return "kmskeys: no answer in time" }
func (attemptTimeout) Timeout() bool        { return true }
func (attemptTimeout) RetryableError() bool { return true }
