package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
)

// Names of the table's attributes.
const (
	attrFlow    = "flow"
	attrAnswers = "answers"
	attrExpires = "expires"
)

// condition holds where the flow is unclaimed or claimed with these answers.
const condition = "attribute_not_exists(#flow) OR #answers = :answers"

const (
	attemptLimit = time.Second     // for one attempt
	claimLimit   = 3 * time.Second // for a claim with all its attempts
	attempts     = 4
	firstPause   = 25 * time.Millisecond // before the second attempt at most; doubled before each further one

	// keepLonger is added to the time that a claim is kept for, since the clocks
	// of instances and of DynamoDB differ.
	keepLonger = time.Hour
)

// API is the part of the AWS SDK's DynamoDB client that a Store uses.
type API interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

var _ API = (*dynamodb.Client)(nil)

// Options say where claims are kept. Both are required.
type Options struct {
	Table  string // its name
	Region string // that of the client
}

// Store keeps claims in a table. It is safe for concurrent use.
type Store struct {
	api     API
	table   string
	home    string
	attempt time.Duration
	limit   time.Duration
}

var _ mrtr.SingleUseStore = (*Store)(nil)

var (
	tableName  = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)
	regionName = regexp.MustCompile(`^[a-z0-9-]{1,63}$`)
)

// New makes a store. It does not call DynamoDB.
func New(api API, opts Options) (*Store, error) {
	switch {
	case api == nil:
		return nil, errors.New("dynamostore: no client")
	case !tableName.MatchString(opts.Table):
		return nil, fmt.Errorf("dynamostore: %q is no name of a table", opts.Table)
	case !regionName.MatchString(opts.Region):
		return nil, fmt.Errorf("dynamostore: %q is no region", opts.Region)
	}
	return &Store{
		api: api, table: opts.Table, home: "dynamodb:" + opts.Region + "/" + opts.Table,
		attempt: attemptLimit, limit: claimLimit,
	}, nil
}

// Open makes a store with a client of the configuration's. It does not call
// DynamoDB, and it is an awslambda.Options.SingleUse.
func Open(cfg aws.Config, table string) (mrtr.SingleUseStore, error) {
	s, err := New(dynamodb.NewFromConfig(cfg), Options{Table: table, Region: cfg.Region})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Home returns region and table.
func (s *Store) Home() string { return s.home }

// Claim implements [mrtr.SingleUseStore]. It makes up to four attempts in at
// most 3 s. The error wraps [mrtr.ErrClaimed] or the context's error, or it is
// an [*Error]; after one of the latter two the claim may have been made all the
// same, and making it again finds out.
func (s *Store) Claim(ctx context.Context, flow string, answers [32]byte, until time.Time) error {
	in := &dynamodb.PutItemInput{
		TableName: &s.table,
		Item: map[string]types.AttributeValue{
			attrFlow:    &types.AttributeValueMemberS{Value: flow},
			attrAnswers: &types.AttributeValueMemberB{Value: answers[:]},
			attrExpires: &types.AttributeValueMemberN{Value: strconv.FormatInt(until.Add(keepLonger).Unix(), 10)},
		},
		ConditionExpression:       aws.String(condition),
		ExpressionAttributeNames:  map[string]string{"#flow": attrFlow, "#answers": attrAnswers},
		ExpressionAttributeValues: map[string]types.AttributeValue{":answers": &types.AttributeValueMemberB{Value: answers[:]}},
	}
	limited, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	var last *Error
	for n := range attempts {
		if n > 0 && !pause(limited, firstPause<<(n-1)) {
			break
		}
		err := s.put(limited, in)
		if err == nil || errors.Is(err, mrtr.ErrClaimed) {
			return err
		}
		if limited.Err() != nil && last != nil {
			break // what it said before says more than that it was cut off
		}
		if last = toError(err); !last.passes() {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("dynamostore: claiming a flow: %w", err)
	}
	return last
}

// put makes one attempt.
func (s *Store) put(ctx context.Context, in *dynamodb.PutItemInput) error {
	ctx, cancel := context.WithTimeout(ctx, s.attempt)
	defer cancel()
	_, err := s.api.PutItem(ctx, in, func(o *dynamodb.Options) {
		o.Retryer = aws.NopRetryer{}
		// Asking for endpoints would be another action to allow.
		o.EndpointDiscovery.EnableEndpointDiscovery = aws.EndpointDiscoveryDisabled
	})
	if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return fmt.Errorf("dynamostore: claiming a flow: %w", mrtr.ErrClaimed)
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// pause waits for up to d, so that instances that failed together do not come
// back together. It reports false where ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(rand.N(d))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
