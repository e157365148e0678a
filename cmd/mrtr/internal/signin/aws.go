package signin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// AWS returns a transport that signs requests to the endpoint with SigV4, as an
// API Gateway or a function URL with IAM authorization wants it. The region is
// the one in the endpoint's name, else the configuration's. now may be nil:
// time.Now.
func AWS(endpoint *url.URL, cfg aws.Config, now func() time.Time) (http.RoundTripper, error) {
	if err := private(endpoint); err != nil {
		return nil, err
	}
	service, region := awsName(endpoint.Hostname())
	if region == "" {
		region = cfg.Region
	}
	if region == "" {
		return nil, fmt.Errorf("signin: there is no AWS region")
	}
	if cfg.Credentials == nil {
		return nil, fmt.Errorf("signin: there are no AWS credentials")
	}
	if now == nil {
		now = time.Now
	}
	signer := v4.NewSigner()
	return only(endpoint, func(r *http.Request) error {
		hash := sha256.New()
		if r.GetBody != nil {
			body, err := r.GetBody()
			if err != nil {
				return err
			}
			_, err = io.Copy(hash, body)
			_ = body.Close()
			if err != nil {
				return err
			}
		} else if r.Body != nil && r.Body != http.NoBody {
			return fmt.Errorf("signin: a body that cannot be read twice cannot be signed")
		}
		credentials, err := cfg.Credentials.Retrieve(r.Context())
		if err != nil {
			return fmt.Errorf("getting AWS credentials: %w", err)
		}
		return signer.SignHTTP(r.Context(), credentials, r, hex.EncodeToString(hash.Sum(nil)), service, region, now())
	}), nil
}

// awsName returns the service and region that a host of AWS names:
// ID.execute-api.REGION.amazonaws.com, ID.lambda-url.REGION.on.aws. Any other
// host is a domain in front of an API Gateway.
func awsName(host string) (service, region string) {
	labels := strings.Split(host, ".")
	if len(labels) >= 4 {
		switch {
		case labels[1] == "lambda-url" && strings.HasSuffix(host, ".on.aws"):
			return "lambda", labels[2]
		case labels[1] == "execute-api" && strings.Contains(host, ".amazonaws.com"):
			return "execute-api", labels[2]
		}
	}
	return "execute-api", ""
}
