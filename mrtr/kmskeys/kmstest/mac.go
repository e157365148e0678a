package kmstest

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	targetPrefix   = "TrentService."
	contentType    = "application/x-amz-json-1.1"
	maxMessageSize = 4096
	maxKeyIDSize   = 2048
	maxBodySize    = 1 << 20
)

var algorithms = map[string]struct {
	spec Spec
	hash func() hash.Hash
}{
	"HMAC_SHA_224": {HMAC224, sha256.New224},
	"HMAC_SHA_256": {HMAC256, sha256.New},
	"HMAC_SHA_384": {HMAC384, sha512.New384},
	"HMAC_SHA_512": {HMAC512, sha512.New},
}

type macRequest struct {
	KeyID        *string  `json:"KeyId"`
	MacAlgorithm *string  `json:"MacAlgorithm"`
	Message      *[]byte  `json:"Message"`
	DryRun       *bool    `json:"DryRun"`
	GrantTokens  []string `json:"GrantTokens"`
}

type macReply struct {
	KeyID        string `json:"KeyId"`
	Mac          []byte `json:"Mac"`
	MacAlgorithm string `json:"MacAlgorithm"`
}

// serve answers one request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodySize))
	if err != nil {
		return
	}
	reply, fail, drop := s.answer(r, body)

	s.mu.Lock()
	latency := s.latency
	s.mu.Unlock()
	if latency > 0 {
		select {
		case <-time.After(latency):
		case <-r.Context().Done():
			return
		}
	}
	if drop {
		panic(http.ErrAbortHandler) // net/http closes the connection and says nothing
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Amzn-Requestid", "00000000-0000-4000-8000-000000000000")
	if fail != nil {
		w.WriteHeader(fail.status)
		_ = json.MarshalWrite(w, map[string]string{"__type": fail.code, "message": fail.message})
		return
	}
	_ = json.MarshalWrite(w, reply)
}

// answer decides a request's outcome and records it.
func (s *Server) answer(r *http.Request, body []byte) (reply *macReply, fail *failure, drop bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	call := Call{Operation: strings.TrimPrefix(r.Header.Get("X-Amz-Target"), targetPrefix)}
	var req macRequest
	decodeErr := json.Unmarshal(body, &req)
	if req.KeyID != nil {
		call.KeyID = *req.KeyID
		if k, _ := s.findLocked(call.KeyID); k != nil {
			call.KeyARN = k.ARN
		}
	}
	if req.MacAlgorithm != nil {
		call.Algorithm = *req.MacAlgorithm
	}
	if req.Message != nil {
		call.Message = slices.Clone(*req.Message)
	}
	defer func() {
		switch {
		case drop:
			call.Error = Dropped
		case fail != nil:
			call.Error = fail.code
		}
		s.calls = append(s.calls, call)
	}()

	if f, ok := s.beginLocked(); ok {
		return nil, f.failure, f.failure == nil
	}
	if fail = s.checkRequest(r); fail != nil {
		return nil, fail, false
	}
	if decodeErr != nil {
		return nil, &failure{400, "SerializationException", "the body is not a GenerateMac request"}, false
	}
	reply, fail = s.generateMacLocked(req)
	return reply, fail, false
}

var authorization = regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=([A-Za-z0-9]+)/(\d{8})/([a-z0-9-]+)/([a-z]+)/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=[0-9a-f]{64}$`)

// checkRequest checks what holds for every operation.
func (s *Server) checkRequest(r *http.Request) *failure {
	if r.Method != http.MethodPost || r.URL.Path != "/" {
		return &failure{404, "UnknownOperationException", ""}
	}
	if got := r.Header.Get("Content-Type"); got != contentType {
		return &failure{400, "UnknownOperationException", ""}
	}
	auth := r.Header.Get("Authorization")
	if auth == "" {
		return &failure{400, "MissingAuthenticationTokenException", "Missing Authentication Token"}
	}
	m := authorization.FindStringSubmatch(auth)
	date := r.Header.Get("X-Amz-Date")
	if m == nil || len(date) != len("20060102T150405Z") {
		return &failure{400, "IncompleteSignatureException", "the Authorization or X-Amz-Date header is not as SigV4 has it"}
	}
	signed := strings.Split(m[5], ";")
	for _, name := range []string{"host", "x-amz-date", "x-amz-target"} {
		if !slices.Contains(signed, name) {
			return &failure{400, "InvalidSignatureException", name + " is not signed"}
		}
	}
	switch {
	case m[1] != accessKeyID:
		return &failure{400, "UnrecognizedClientException", "The security token included in the request is invalid."}
	case m[2] != date[:8] || m[3] != s.region || m[4] != "kms":
		return &failure{400, "InvalidSignatureException", "Credential should be scoped to a valid region and service."}
	}
	target := r.Header.Get("X-Amz-Target")
	operation, ok := strings.CutPrefix(target, targetPrefix)
	if !ok || operation == "" {
		return &failure{400, "UnknownOperationException", ""}
	}
	if operation != "GenerateMac" {
		return &failure{400, "AccessDeniedException", "the role is not authorized to perform: kms:" + operation}
	}
	return nil
}

// generateMacLocked checks a request in the order in which KMS does: its
// fields, the key, what the caller may do with it, its state, its use.
func (s *Server) generateMacLocked(req macRequest) (*macReply, *failure) {
	switch {
	case req.KeyID == nil:
		return nil, invalid("keyId", "Member must not be null")
	case len(*req.KeyID) < 1 || len(*req.KeyID) > maxKeyIDSize:
		return nil, invalid("keyId", "Member must have length between 1 and 2048")
	case req.MacAlgorithm == nil:
		return nil, invalid("macAlgorithm", "Member must not be null")
	case req.Message == nil:
		return nil, invalid("message", "Member must not be null")
	case len(*req.Message) < 1 || len(*req.Message) > maxMessageSize:
		return nil, invalid("message", "Member must have length between 1 and 4096")
	case len(req.GrantTokens) > 10:
		return nil, invalid("grantTokens", "Member must have length less than or equal to 10")
	}
	algorithm, ok := algorithms[*req.MacAlgorithm]
	if !ok {
		return nil, invalid("macAlgorithm", "Member must satisfy enum value set: [HMAC_SHA_224, HMAC_SHA_256, HMAC_SHA_384, HMAC_SHA_512]")
	}
	k, fail := s.findLocked(*req.KeyID)
	if fail != nil {
		return nil, fail
	}
	switch k.state {
	case Denied:
		return nil, &failure{400, "AccessDeniedException", "the role is not authorized to perform: kms:GenerateMac on resource: " + k.ARN}
	case Disabled:
		return nil, &failure{400, "DisabledException", k.ARN + " is disabled."}
	case PendingDeletion:
		return nil, &failure{400, "KMSInvalidStateException", k.ARN + " is pending deletion."}
	}
	if algorithm.spec != k.spec {
		return nil, &failure{400, "InvalidKeyUsageException", fmt.Sprintf("Algorithm %s is incompatible with key spec %s.", *req.MacAlgorithm, k.spec)}
	}
	if req.DryRun != nil && *req.DryRun {
		return nil, &failure{400, "DryRunOperationException", "The request would have succeeded, but the DryRun option is set."}
	}
	mac := hmac.New(algorithm.hash, k.material)
	mac.Write(*req.Message)
	return &macReply{KeyID: k.ARN, Mac: mac.Sum(nil), MacAlgorithm: *req.MacAlgorithm}, nil
}

func invalid(field, constraint string) *failure {
	return &failure{400, "ValidationException",
		fmt.Sprintf("1 validation error detected: Value at '%s' failed to satisfy constraint: %s", field, constraint)}
}
