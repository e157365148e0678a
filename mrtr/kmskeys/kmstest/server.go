package kmstest

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
)

const (
	// DefaultRegion is where a server is, where nothing is said.
	DefaultRegion = "eu-central-1"

	accessKeyID     = "AKIDEXAMPLE000000000"
	secretAccessKey = "not-a-secret-0123456789-0123456789-0123456789" // long enough for FIPS
)

// Options say what server to start. The zero value has defaults.
type Options struct {
	Region  string        // empty: DefaultRegion
	TLS     bool          // serve HTTPS, with a certificate that Env and Client trust
	Latency time.Duration // before each answer
}

// Server is a fake KMS of one region. It is safe for concurrent use.
type Server struct {
	URL string // of the endpoint

	region string
	http   *httptest.Server
	caDir  string // holds the certificate, with TLS

	mu      sync.Mutex
	keys    map[string]*Key   // by id
	aliases map[string]string // alias/NAME to key id
	latency time.Duration
	outage  bool
	faults  []fault
	calls   []Call
}

// NewServer starts a server on a free port of the loopback address. Like
// httptest it panics when it cannot.
func NewServer(opts Options) *Server {
	s := &Server{
		region:  opts.Region,
		keys:    make(map[string]*Key),
		aliases: make(map[string]string),
		latency: opts.Latency,
	}
	if s.region == "" {
		s.region = DefaultRegion
	}
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	if opts.TLS {
		s.http.StartTLS()
		s.writeCertificate()
	} else {
		s.http.Start()
	}
	s.URL = s.http.URL
	return s
}

func (s *Server) writeCertificate() {
	dir, err := os.MkdirTemp("", "kmstest")
	if err == nil {
		s.caDir = dir
		block := &pem.Block{Type: "CERTIFICATE", Bytes: s.http.Certificate().Raw}
		err = os.WriteFile(filepath.Join(dir, "ca.pem"), pem.EncodeToMemory(block), 0o600)
	}
	if err != nil {
		panic("kmstest: writing the certificate: " + err.Error())
	}
}

// Close stops the server.
func (s *Server) Close() {
	s.http.Close()
	if s.caDir != "" {
		os.RemoveAll(s.caDir)
	}
}

// Client returns an AWS SDK client of the server, with the SDK's defaults.
func (s *Server) Client(optFns ...func(*kms.Options)) *kms.Client {
	return kms.New(kms.Options{
		Region:       s.region,
		BaseEndpoint: &s.URL,
		HTTPClient:   s.http.Client(),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: accessKeyID, SecretAccessKey: secretAccessKey}, nil
		}),
	}, optFns...)
}

// Env returns environment variables for a child process whose AWS SDK is to use
// this server for KMS and nothing of the machine's own settings. Append them to
// the child's environment: the last value of a name counts.
func (s *Server) Env() []string {
	env := []string{
		"AWS_ENDPOINT_URL_KMS=" + s.URL,
		"AWS_REGION=" + s.region,
		"AWS_ACCESS_KEY_ID=" + accessKeyID,
		"AWS_SECRET_ACCESS_KEY=" + secretAccessKey,
		"AWS_SESSION_TOKEN=",
		"AWS_PROFILE=",
		"AWS_CONFIG_FILE=" + os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
		"AWS_EC2_METADATA_DISABLED=true",
		"AWS_CA_BUNDLE=",
		"NO_PROXY=127.0.0.1",
	}
	if s.caDir != "" {
		env = append(env, "SSL_CERT_FILE="+filepath.Join(s.caDir, "ca.pem"), "SSL_CERT_DIR="+s.caDir)
	}
	return env
}
