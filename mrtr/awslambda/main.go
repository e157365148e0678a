package awslambda

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// Options change what Main does. The zero value is right for most programs.
type Options struct {
	// Wrap puts a middleware in front of the server, such as one that
	// authenticates callers and calls mrtr.WithPrincipal. Nil: none.
	Wrap func(http.Handler) http.Handler
	// SingleUse makes the store of Call.SingleUse where MRTR_REPLAY_TABLE is set:
	// dynamostore.Open, or one like it. The program links what it makes stores
	// of, which is why nothing is the default. Nil: with that variable set the
	// program does not start.
	SingleUse func(cfg aws.Config, table string) (mrtr.SingleUseStore, error)
	// Configure may change how the server is served, after the settings have been
	// read: its middleware, observers, yields, whether anonymous callers may
	// confirm. Nil: no change.
	Configure func(*mrtr.HandlerOptions)
	// Now is the clock. Nil: time.Now.
	Now func() time.Time
}

// initWait is how long the start waits for the first answer of KMS: the first
// request joins a call that takes longer.
const initWait = 2 * time.Second

// Main runs the server that newServer makes, on Lambda or locally, until the
// process is told to end. It does not return.
func Main(newServer func() *mrtr.Server) { MainWith(Options{}, newServer) }

// MainWith is Main with options.
func MainWith(opts Options, newServer func() *mrtr.Server) {
	if err := run(opts, newServer); err != nil {
		fmt.Fprintf(os.Stderr, "mrtr: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(opts Options, newServer func() *mrtr.Server) error {
	s, err := readSettings(os.Getenv)
	if err != nil {
		return err
	}
	var addr string
	if s.onLambda {
		tuneMemory(os.Getenv)
	} else {
		addr, err = parseFlags(os.Args, os.Stdout)
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	logger := newLogger(os.Stderr, s.onLambda)
	cfg, err := s.awsConfig()
	if err != nil {
		return err
	}
	singleUse, err := s.singleUse(cfg, opts)
	if err != nil {
		return err
	}
	// The call to KMS goes out here; the rest of the start goes on beside it.
	keys, wait, err := s.keys(cfg, opts, logger)
	if err != nil {
		return err
	}
	srv := newServer()
	options := mrtr.HandlerOptions{
		Keys: keys, Audience: s.audience,
		RoundTTL: s.roundTTL, FlowTTL: s.flowTTL,
		MaxRounds: s.maxRounds, MaxStateBytes: s.maxStateBytes, MaxBodyBytes: int64(s.maxBodyBytes),
		MaxReplyBytes:  s.maxReplyBytes(),
		AllowedOrigins: s.origins, AllowLoopbackOrigins: !s.onLambda, AllowAnonymous: !s.onLambda,
		SingleUse: singleUse,
		Now:       opts.Now, Logger: logger,
	}
	if opts.Configure != nil {
		opts.Configure(&options)
	}
	flush, err := s.observe(&options, logger)
	if err != nil {
		return err
	}
	guard, err := s.auth.protect(srv, &options)
	if err != nil {
		return err
	}
	s.auth.warn(logger, s.onLambda, opts.Wrap != nil)
	handler, err := srv.Handler(options)
	if err != nil {
		return err
	}
	if opts.Wrap != nil {
		handler = opts.Wrap(handler)
	}
	handler = withMetadata(guard, route(handler))
	wait()
	if s.onLambda {
		lambdahttp.Start(handler, s.mode, lambdahttp.Options{GatewayTimeout: s.gatewayLimit(), Logger: logger, Replied: flush})
	}
	return serveLocal(addr, flushed(handler, flush), s.keyID != "")
}

// awsConfig loads the AWS configuration where the settings name anything in AWS.
func (s *settings) awsConfig() (cfg aws.Config, err error) {
	if s.keyID == "" && s.replayTable == "" {
		return cfg, nil
	}
	cfg, err = config.LoadDefaultConfig(context.Background())
	switch {
	case err != nil:
		return cfg, fmt.Errorf("loading the AWS configuration: %w", err)
	case cfg.Region == "":
		return cfg, errors.New("AWS_REGION is not set: it says where the key of MRTR_KMS_KEY_ID and the table of MRTR_REPLAY_TABLE are")
	}
	return cfg, nil
}

// singleUse returns the store that the settings name. Nil: there is none.
func (s *settings) singleUse(cfg aws.Config, opts Options) (mrtr.SingleUseStore, error) {
	switch {
	case s.replayTable == "" && s.onLambda:
		return nil, nil
	case s.replayTable == "":
		return new(mrtr.MemoryStore), nil
	case opts.SingleUse == nil:
		return nil, errors.New("MRTR_REPLAY_TABLE is set, but this program has no store for it: set Options.SingleUse to dynamostore.Open")
	}
	store, err := opts.SingleUse(cfg, s.replayTable)
	if err != nil {
		return nil, fmt.Errorf("reading MRTR_REPLAY_TABLE: %w", err)
	}
	return store, nil
}

// keys returns the keys that the settings name and starts fetching the first
// secret; wait joins that for a bounded time.
func (s *settings) keys(cfg aws.Config, opts Options, logger *slog.Logger) (keys requeststate.Keys, wait func(), err error) {
	if s.keyID == "" {
		secret := make([]byte, requeststate.MinSecretSize)
		rand.Read(secret)
		keys, err := requeststate.NewStaticKeys(secret)
		return keys, func() {}, err
	}
	ctx := context.Background()
	k, err := kmskeys.New(kms.NewFromConfig(cfg), kmskeys.Options{
		KeyID: s.keyID, AcceptKeyIDs: s.acceptKeyIDs, Modes: s.modes, Audience: s.audience,
		RoundTTL: s.roundTTL, Now: opts.Now, Logger: logger,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("reading the MRTR_KMS settings: %w", err)
	}
	k.Start(ctx)
	return k, func() {
		if err := k.Wait(ctx, initWait); err != nil {
			logger.Warn("the key service did not answer during start", "error", err)
		}
	}, nil
}

// maxReplyBytes is what a response body may take, leaving room in Lambda's
// limit for the status and headers around it.
func (s *settings) maxReplyBytes() int {
	if !s.onLambda || s.mode == lambdahttp.ModeStream {
		return 0
	}
	return lambdahttp.DefaultMaxReplyBytes - 16<<10
}

// route serves the endpoint at /mcp, below whatever base path a custom domain
// adds.
func route(mcp http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/mcp") {
			mcp.ServeHTTP(w, r)
			return
		}
		http.NotFound(w, r)
	})
}
