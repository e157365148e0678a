package mrtr_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// revisionSchema reads the JSON schema of the revision from the folder that
// MRTR_SPEC_DIR names. Where there is none, the test is skipped, but not in CI.
type revisionSchema struct {
	root     jsonschema.Schema
	resolved map[string]*jsonschema.Resolved
}

func readRevisionSchema(t *testing.T) *revisionSchema {
	dir, named := os.LookupEnv("MRTR_SPEC_DIR")
	if !named {
		dir = filepath.Join("..", "..", "shared", "spec")
	}
	b, err := os.ReadFile(filepath.Join(dir, "schema-"+protocol.Version20260728+".json"))
	if errors.Is(err, fs.ErrNotExist) && !named && os.Getenv("CI") != "true" {
		t.Skip("MRTR_SPEC_DIR names no folder with the revision's JSON schema")
	}
	require.NoError(t, err)
	s := &revisionSchema{resolved: map[string]*jsonschema.Resolved{}}
	require.NoError(t, json.Unmarshal(b, &s.root))
	require.Contains(t, s.root.Defs, "JSONRPCMessage")
	return s
}

// check holds a message against a definition of the schema.
func (s *revisionSchema) check(t *testing.T, definition, message string) {
	t.Helper()
	require.NoError(t, s.validate(t, definition, message), "no %s: %s", definition, message)
}

func (s *revisionSchema) validate(t *testing.T, definition, message string) error {
	t.Helper()
	r := s.resolved[definition]
	if r == nil {
		require.Contains(t, s.root.Defs, definition)
		root := s.root
		root.Ref = "#/$defs/" + definition
		var err error
		r, err = root.Resolve(nil)
		require.NoError(t, err)
		s.resolved[definition] = r
	}
	var v any
	require.NoError(t, json.Unmarshal([]byte(message), &v))
	return r.Validate(v)
}

// The definitions of what goes over the wire, by method and by error code.
var (
	requestDefinitions = map[string]string{
		protocol.MethodDiscover:              "DiscoverRequest",
		protocol.MethodListTools:             "ListToolsRequest",
		protocol.MethodCallTool:              "CallToolRequest",
		protocol.MethodListPrompts:           "ListPromptsRequest",
		protocol.MethodGetPrompt:             "GetPromptRequest",
		protocol.MethodListResources:         "ListResourcesRequest",
		protocol.MethodListResourceTemplates: "ListResourceTemplatesRequest",
		protocol.MethodReadResource:          "ReadResourceRequest",
		protocol.MethodComplete:              "CompleteRequest",
		protocol.MethodSubscriptionsListen:   "SubscriptionsListenRequest",
		"notifications/cancelled":            "CancelledNotification",
	}
	notificationDefinitions = map[string]string{
		protocol.NotificationProgress:                  "ProgressNotification",
		protocol.NotificationMessage:                   "LoggingMessageNotification",
		protocol.NotificationSubscriptionsAcknowledged: "SubscriptionsAcknowledgedNotification",
	}
	errorDefinitions = map[int]string{
		jsonrpc.CodeParseError:                       "ParseError",
		jsonrpc.CodeInvalidRequest:                   "InvalidRequestError",
		jsonrpc.CodeMethodNotFound:                   "MethodNotFoundError",
		jsonrpc.CodeInvalidParams:                    "InvalidParamsError",
		jsonrpc.CodeInternalError:                    "InternalError",
		protocol.CodeHeaderMismatch:                  "HeaderMismatchError",
		protocol.CodeMissingRequiredClientCapability: "MissingRequiredClientCapabilityError",
		protocol.CodeUnsupportedProtocolVersion:      "UnsupportedProtocolVersionError",
	}
)

// TestConversationsFitTheSchema holds every message of the modern golden
// conversations against the revision's JSON schema.
func TestConversationsFitTheSchema(t *testing.T) {
	s := readRevisionSchema(t)
	require.Error(t, s.validate(t, "CallToolResult", `{"resultType":"complete"}`), "the check finds nothing")
	seen := map[string]int{}
	for _, file := range conversationFiles(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		if strings.HasPrefix(name, "handshake") {
			continue // of another revision
		}
		t.Run(name, func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			require.NoError(t, err)
			var method string
			for _, f := range a.Files {
				section := parseSection(t, f)
				switch section.name {
				case "request":
					definition := "JSONRPCRequest"
					var m struct {
						Method string `json:"method"`
					}
					require.NoError(t, json.Unmarshal([]byte(section.body), &m))
					if method = m.Method; requestDefinitions[method] != "" {
						definition = requestDefinitions[method]
					}
					s.check(t, definition, section.body)
					seen[definition]++
				case "response":
					for _, message := range splitMessages(section.body) {
						seen[s.checkResponse(t, method, message)]++
					}
				}
			}
		})
	}
	for _, definitions := range []map[string]string{requestDefinitions, notificationDefinitions} {
		for _, definition := range definitions {
			require.NotZero(t, seen[definition], "no conversation shows a %s", definition)
		}
	}
	for _, definition := range errorDefinitions {
		require.NotZero(t, seen[definition], "no conversation shows a %s", definition)
	}
	require.NotZero(t, seen["InputRequiredResult"])
}

// splitMessages returns the messages of a response in a file: each is indented
// JSON, with an empty line between two.
func splitMessages(body string) []string {
	if body == "" {
		return nil
	}
	return strings.Split(body, "\n\n")
}

// checkResponse holds what answers a method against the schema: the message as
// a whole, and the part that has a definition of its own. It returns the
// definition's name.
func (s *revisionSchema) checkResponse(t *testing.T, method, message string) string {
	var m struct {
		Method string         `json:"method"`
		Result jsontext.Value `json:"result"`
		Error  jsontext.Value `json:"error"`
	}
	require.NoError(t, json.Unmarshal([]byte(message), &m))
	var definition, part, envelope string
	switch {
	case m.Method != "":
		definition, part, envelope = notificationDefinitions[m.Method], message, "JSONRPCNotification"
	case m.Error != nil:
		var e struct {
			Code int `json:"code"`
		}
		require.NoError(t, json.Unmarshal(m.Error, &e))
		definition, part, envelope = errorDefinitions[e.Code], string(m.Error), "JSONRPCErrorResponse"
		if e.Code > jsonrpc.CodeInvalidRequest { // MCP's own errors are defined as messages
			part = message
		}
	default:
		var r struct {
			Type protocol.ResultType `json:"resultType"`
		}
		require.NoError(t, json.Unmarshal(m.Result, &r))
		definition, part, envelope = strings.TrimSuffix(requestDefinitions[method], "Request")+"Result", string(m.Result), "JSONRPCResultResponse"
		if r.Type == protocol.ResultInputRequired {
			definition = "InputRequiredResult"
		}
	}
	require.NotEmpty(t, definition, message)
	s.check(t, envelope, message)
	s.check(t, definition, part)
	return definition
}
