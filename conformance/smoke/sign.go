package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
)

// awsSigner returns a signer (Signature Version 4) with the credentials that the
// AWS SDK finds.
func awsSigner(ctx context.Context, endpoint *url.URL) (signer, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("loading the AWS configuration: %w", err)
	}
	service, region := signedFor(endpoint.Hostname(), cfg.Region)
	if region == "" {
		return nil, errors.New("AWS_REGION is not set, and the URL does not tell the region")
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return nil, errors.New("there are no AWS credentials, or they cannot be had")
	}
	return newSigner(cfg.Credentials, service, region), nil
}

// signedFor returns service and region of the endpoint with that host. The
// region of a host that does not tell it is the one given.
func signedFor(host, region string) (string, string) {
	labels := strings.Split(host, ".")
	if len(labels) > 3 {
		switch labels[1] {
		case "execute-api":
			return "execute-api", labels[2]
		case "lambda-url":
			return "lambda", labels[2]
		}
	}
	return "execute-api", region
}

func newSigner(credentials aws.CredentialsProvider, service, region string) signer {
	s := v4.NewSigner()
	return func(r *http.Request, body []byte) error {
		c, err := credentials.Retrieve(r.Context())
		if err != nil {
			return errors.New("the AWS credentials cannot be had")
		}
		sum := sha256.Sum256(body)
		if err := s.SignHTTP(r.Context(), c, r, hex.EncodeToString(sum[:]), service, region, time.Now()); err != nil {
			return errors.New("the request cannot be signed")
		}
		return nil
	}
}
