package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

const eventsDir = "../../events"

// TestEvents plays every file of events/ through the real binary and the fake
// Runtime API, and compares each reply with the file of the same name in
// events/golden.
func TestEvents(t *testing.T) {
	needContract(t)
	files, err := filepath.Glob(filepath.Join(eventsDir, "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "no events")

	fake := kmstest.NewServer(kmstest.Options{})
	defer fake.Close()
	key := fake.CreateKey(kmstest.KeyOptions{}).ARN
	functions := make(map[string]*lambdatest.API) // by their setting of MRTR_AUTH
	for auth, env := range eventSettings {
		api, err := lambdatest.Start(t.Context(), lambdatest.Options{Bootstrap: bootstrap, Env: append(append(fake.Env(),
			"MRTR_KMS_KEY_ID="+key,
			"MRTR_AUDIENCE=events",
			"MRTR_ALLOWED_ORIGINS=https://app.example.com",
			"MRTR_AUTH="+auth,
		), env...)})
		require.NoError(t, err)
		defer api.Close()
		functions[auth] = api
	}

	var names []string
	for _, file := range files {
		name := filepath.Base(file)
		names = append(names, name)
		t.Run(strings.TrimSuffix(name, ".json"), func(t *testing.T) {
			event, err := os.ReadFile(file)
			require.NoError(t, err)
			res, err := functions[eventAuth(name)].Invoke(t.Context(), event)
			require.NoError(t, err)
			require.Nil(t, res.FunctionError)
			_, err = res.Reply()
			require.NoError(t, err, "the reply is none that a gateway takes")

			got, golden := readable(t, res.Payload), filepath.Join(eventsDir, "golden", name)
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o777))
				require.NoError(t, os.WriteFile(golden, got, 0o666))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err, "run with -update to write it")
			require.Equal(t, string(want), string(got))
		})
	}

	golden, err := filepath.Glob(filepath.Join(eventsDir, "golden", "*"))
	require.NoError(t, err)
	for _, file := range golden {
		require.Contains(t, names, filepath.Base(file), "a golden answer without its event")
	}
	require.Len(t, golden, len(names))
}

// eventSettings are the environments that events/ is played in, by MRTR_AUTH.
var eventSettings = map[string][]string{
	"none": nil,
	"iam":  nil,
	"gateway-jwt": {
		"MRTR_OAUTH_ISSUER=https://issuer.example.com",
		"MRTR_OAUTH_RESOURCE=https://mcp.example.com/mcp",
		"MRTR_OAUTH_SCOPES=mcp",
	},
}

// eventAuth returns the setting of MRTR_AUTH that the name of an event asks for.
func eventAuth(name string) string {
	switch {
	case strings.Contains(name, "-jwt-"):
		return "gateway-jwt"
	case strings.Contains(name, "-iam-"):
		return "iam"
	}
	return "none"
}

var stateMember = regexp.MustCompile(`"requestState":"([^"]*)"`)

// readable returns a reply as its golden file has it: indented, a JSON body as
// JSON and not as a string, and every state, which must look like one, masked.
func readable(t *testing.T, payload []byte) []byte {
	t.Helper()
	var reply struct {
		Body jsontext.Value `json:"body"`
	}
	require.NoError(t, json.Unmarshal(payload, &reply))
	var body string
	if reply.Body != nil {
		require.NoError(t, json.Unmarshal(reply.Body, &body))
	}
	if jsontext.Value(body).IsValid() {
		for _, m := range stateMember.FindAllStringSubmatch(body, -1) {
			header, _, err := requeststate.ParseHeader(m[1])
			require.NoError(t, err)
			require.Equal(t, requeststate.ModeDerived, header.Mode)
		}
		body = stateMember.ReplaceAllString(body, `"requestState":"<sealed>"`)
		payload = bytes.Replace(payload, reply.Body, []byte(body), 1)
	}
	out := jsontext.Value(payload)
	require.NoError(t, out.Indent(jsontext.WithIndent("  ")))
	return append(out, '\n')
}
