package dynamostore

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

const (
	testRegion = "eu-central-1"
	testTable  = "stack-Claims-1A2B"
	accessKey  = "AKIDEXAMPLE000000000"
	secretKey  = "not-a-secret-0123456789-0123456789-0123456789"
)

// fake is DynamoDB of one region with tables of one kind: partition key flow, a
// string. It knows PutItem under the one condition that claims have; every
// other action is denied, as by a role that may do no more.
type fake struct {
	*httptest.Server
	region string

	mu     sync.Mutex
	tables map[string]map[string]item // by table and flow
	faults []fault
	calls  []string // what each request came to: the error's code, "ok", "dropped", "lost"
}

// item is an item as the wire has it: attribute to type to value.
type item map[string]map[string]string

// fault is what happens to one request.
type fault struct {
	status int // 0: no answer
	code   string
	after  bool            // the write is made before
	hold   <-chan struct{} // waits for this
	body   string          // answers with status 200 and this
}

type failure struct {
	status        int
	code, message string
}

func newFake(t *testing.T, region string, tables ...string) *fake {
	f := &fake{region: region, tables: map[string]map[string]item{}}
	for _, name := range tables {
		f.tables[name] = map[string]item{}
	}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// config is an AWS configuration as a program loads it.
func (f *fake) config() aws.Config {
	return aws.Config{Region: f.region, BaseEndpoint: &f.URL, Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}, nil
	})}
}

// env points a process at the fake.
func (f *fake) env(table string) []string {
	return []string{"AWS_ENDPOINT_URL_DYNAMODB=" + f.URL, "MRTR_REPLAY_TABLE=" + table}
}

func (f *fake) store(t *testing.T) *Store {
	t.Helper()
	s, err := Open(f.config(), testTable)
	require.NoError(t, err)
	return s.(*Store)
}

func (f *fake) upset(faults ...fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, faults...)
}

func (f *fake) took() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

func (f *fake) items(table string) map[string]item {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tables[table]
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	f.mu.Lock()
	var now fault
	broken := len(f.faults) > 0
	if broken {
		now, f.faults = f.faults[0], f.faults[1:]
	}
	f.mu.Unlock()
	if now.hold != nil {
		select {
		case <-now.hold:
		case <-r.Context().Done():
			f.record("dropped")
			return
		}
		broken = false
	}
	if broken && now.after {
		if fail := f.put(r, body); fail != nil {
			panic(fail)
		}
	}
	switch {
	case broken && now.body != "":
		f.record("unreadable")
		f.reply(w, http.StatusOK, now.body)
	case broken && now.status == 0:
		f.record(map[bool]string{true: "lost", false: "dropped"}[now.after])
		panic(http.ErrAbortHandler)
	case broken:
		f.fail(w, &failure{now.status, now.code, "injected by the test"})
	default:
		if fail := f.put(r, body); fail != nil {
			f.fail(w, fail)
			return
		}
		f.record("ok")
		f.reply(w, http.StatusOK, "{}")
	}
}

func (f *fake) record(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, what)
}

func (f *fake) fail(w http.ResponseWriter, fail *failure) {
	f.record(fail.code)
	kind := "com.amazon.coral.service#"
	if strings.HasPrefix(fail.code, "Conditional") || strings.HasPrefix(fail.code, "Resource") || strings.HasPrefix(fail.code, "Provisioned") {
		kind = "com.amazonaws.dynamodb.v20120810#"
	}
	b, err := json.Marshal(map[string]string{"__type": kind + fail.code, "message": fail.message})
	if err != nil {
		panic(err)
	}
	f.reply(w, fail.status, string(b))
}

func (f *fake) reply(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amzn-Requestid", "00000000000000000000000000000000000000000000000000AA")
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(body))), 10))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

var authorization = regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=([A-Z0-9]+)/(\d{8})/([a-z0-9-]+)/dynamodb/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=[0-9a-f]{64}$`)

type putItem struct {
	TableName                 string
	Item                      item
	ConditionExpression       string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues map[string]map[string]string
}

func invalid(format string, args ...any) *failure {
	return &failure{400, "ValidationException", fmt.Sprintf(format, args...)}
}

// put does what a request asks for.
func (f *fake) put(r *http.Request, body []byte) *failure {
	m := authorization.FindStringSubmatch(r.Header.Get("Authorization"))
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/" || r.Header.Get("Content-Type") != "application/x-amz-json-1.0":
		return &failure{404, "UnknownOperationException", ""}
	case m == nil:
		return &failure{400, "MissingAuthenticationTokenException", "no SigV4"}
	case m[1] != accessKey:
		return &failure{400, "UnrecognizedClientException", "The security token included in the request is invalid."}
	case m[3] != f.region || !strings.HasPrefix(r.Header.Get("X-Amz-Date"), m[2]):
		return &failure{400, "InvalidSignatureException", "Credential should be scoped to a valid region."}
	}
	for _, name := range []string{"host", "x-amz-date", "x-amz-target"} {
		if !slices.Contains(strings.Split(m[4], ";"), name) {
			return &failure{400, "InvalidSignatureException", name + " is not signed"}
		}
	}
	if target := r.Header.Get("X-Amz-Target"); target != "DynamoDB_20120810.PutItem" {
		return &failure{400, "AccessDeniedException", "the role is not authorized to perform: " + target}
	}
	var in putItem
	if err := json.Unmarshal(body, &in, json.RejectUnknownMembers(true)); err != nil {
		return &failure{400, "SerializationException", err.Error()}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	table, ok := f.tables[in.TableName]
	if !ok {
		return &failure{400, "ResourceNotFoundException", "Requested resource not found"}
	}
	flow, isString := in.Item["flow"]["S"]
	if !isString || flow == "" {
		return invalid("One or more parameter values were invalid: Missing the key flow in the item")
	}
	for name, value := range in.Item {
		for kind, text := range value {
			if _, err := strconv.ParseInt(text, 10, 64); len(value) != 1 || !strings.Contains("SBN", kind) || kind == "N" && err != nil {
				return invalid("%s is no attribute value", name)
			}
		}
	}
	if in.ConditionExpression != "attribute_not_exists(#flow) OR #answers = :answers" {
		return invalid("Invalid ConditionExpression: only that of a claim is known here")
	}
	if len(in.ExpressionAttributeNames) != 2 || in.ExpressionAttributeNames["#flow"] != "flow" || in.ExpressionAttributeNames["#answers"] != "answers" {
		return invalid("ExpressionAttributeNames are not those of the expression")
	}
	wanted, ok := in.ExpressionAttributeValues[":answers"]["B"]
	if !ok || len(in.ExpressionAttributeValues) != 1 {
		return invalid("ExpressionAttributeValues are not those of the expression")
	}
	if old, ok := table[flow]; ok {
		if have, binary := old["answers"]["B"]; !binary || have != wanted {
			return &failure{400, "ConditionalCheckFailedException", "The conditional request failed"}
		}
	}
	table[flow] = in.Item
	return nil
}

func TestMain(m *testing.M) {
	os.Unsetenv("AWS_CA_BUNDLE")
	os.Exit(m.Run())
}
