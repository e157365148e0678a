package infra_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// watched is the fullest deployment.
func watched(t *testing.T) *stack { return deploy(t, variants["tokens"]) }

func TestAlarms(t *testing.T) {
	s := watched(t)
	alarms := s.of("AWS::CloudWatch::Alarm")
	var names []string
	for name, a := range alarms {
		id := name[strings.LastIndexByte(name, '/')+1:]
		names = append(names, id)
		require.Equal(t, "notBreaching", a.properties["TreatMissingData"], name)
		require.NotEmpty(t, a.properties["AlarmDescription"], name)
		if strings.HasPrefix(id, "Rollback") {
			require.NotContains(t, a.properties, "AlarmActions", "a rollback is what it does")
			continue
		}
		require.Equal(t, []any{"arn:aws:sns:eu-central-1:123456789012:alarms"}, a.properties["AlarmActions"], name)
	}
	slices.Sort(names)
	require.Equal(t, []string{
		"Durations", "Durations", "FunctionErrors", "FunctionErrors", "HttpApiErrors", "InternalErrors", "InternalErrors",
		"KeyChanged", "KeyErrors", "KeyErrors", "KeyUsedByOthers", "RefusedStates", "RefusedStates", "RestApiErrors",
		"RollbackOnErrors", "RollbackOnFailures", "RollbackOnRefusals", "Throttles", "Throttles",
	}, names, "one of each function, API and key")

	for _, id := range []string{"ObservabilityStack", "RestApiObservabilityStack"} {
		for _, alarm := range []string{"FunctionErrors", "Throttles", "KeyErrors"} {
			dimensions := s.children[id].resources[alarm].properties["Dimensions"].([]any)
			require.Contains(t, dimensions, object{"Name": "FunctionName", "Value": s.children[id].values["FunctionName"]})
		}
	}
	duration := s.children["ObservabilityStack"].resources["Durations"].properties
	require.Equal(t, "duration / (29 * 10)", duration["Metrics"].([]any)[0].(object)["Expression"])
}

// TestAlarmReasons shows that what alarms add up are words that the server
// says.
func TestAlarmReasons(t *testing.T) {
	s := watched(t)
	said := serverReasons(t)
	for name, a := range s.of("AWS::CloudWatch::Alarm") {
		metrics, _ := a.properties["Metrics"].([]any)
		for _, m := range metrics {
			stat, ok := m.(object)["MetricStat"].(object)
			if !ok || stat["Metric"].(object)["Namespace"] != "MRTR" {
				continue
			}
			for _, d := range stat["Metric"].(object)["Dimensions"].([]any) {
				if d.(object)["Name"] == "Reason" {
					require.Contains(t, said, d.(object)["Value"], name)
				}
			}
		}
		require.LessOrEqual(t, len(metrics), 11, name)
	}
	require.Contains(t, said, string(requeststate.ReasonForged))
}

// serverReasons collects the reasons in the sources of the server and of the
// state.
func serverReasons(t *testing.T) []string {
	t.Helper()
	said := regexp.MustCompile(`(?:internal|refused|because)\("([a-z_]+)"|Reason[A-Za-z]*\s+(?:Reason )?= "([a-z_]+)"`)
	var out []string
	for _, dir := range []string{"../mrtr", "../mrtr/requeststate"} {
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, f := range files {
			if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
				continue
			}
			source, err := os.ReadFile(dir + "/" + f.Name())
			require.NoError(t, err)
			for _, m := range said.FindAllStringSubmatch(string(source), -1) {
				out = append(out, m[1]+m[2])
			}
		}
	}
	return out
}

// TestMetricNames shows that alarms and dashboard read metrics that the function
// writes.
func TestMetricNames(t *testing.T) {
	source, err := os.ReadFile("../mrtr/awslambda/metrics.go")
	require.NoError(t, err)
	var written []string
	for _, m := range regexp.MustCompile(`metric\("([A-Za-z]+)"`).FindAllStringSubmatch(string(source), -1) {
		written = append(written, m[1])
	}
	require.Contains(t, string(source), `"MRTR"`)

	s := watched(t)
	var read []string
	for _, a := range s.of("AWS::CloudWatch::Alarm") {
		if a.properties["Namespace"] == "MRTR" {
			read = append(read, a.properties["MetricName"].(string))
		}
		for _, m := range list(a.properties["Metrics"]) {
			if m, ok := m.(object); ok && m["MetricStat"] != nil {
				if metric := m["MetricStat"].(object)["Metric"].(object); metric["Namespace"] == "MRTR" {
					read = append(read, metric["MetricName"].(string))
				}
			}
		}
	}
	for _, m := range dashboardMetrics(t, s.children["ObservabilityStack"]) {
		if m[0] == "MRTR" {
			read = append(read, m[1])
		}
	}
	slices.Sort(read)
	read = slices.Compact(read)
	require.Subset(t, written, read)
	require.Subset(t, read, []string{"Requests", "Rounds", "Refused", "KeyCalls", "Failed", "Duration", "ColdStart", "StateBytes"})
}

// dashboardMetrics returns namespace and name of each metric on the dashboard.
func dashboardMetrics(t *testing.T, s *stack) [][2]string {
	t.Helper()
	var board struct {
		Widgets []struct {
			X, Y, Width, Height int
			Properties          struct {
				Title, Region string
				Metrics       [][]any
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(s.resources["Dashboard"].properties["DashboardBody"].(string)), &board))
	require.Len(t, board.Widgets, 9)
	search := regexp.MustCompile(`^SEARCH\('\{(\w+),[\w,]+\} MetricName="(\w+)" FunctionName="mcp/McpFunction"`)
	var out [][2]string
	taken := map[[2]int]bool{}
	for _, w := range board.Widgets {
		require.False(t, taken[[2]int{w.X, w.Y}])
		require.LessOrEqual(t, w.X+w.Width, 24)
		taken[[2]int{w.X, w.Y}] = true
		require.Equal(t, "eu-central-1", w.Properties.Region)
		for _, m := range w.Properties.Metrics {
			if expression, ok := m[0].(object); ok {
				parts := search.FindStringSubmatch(expression["expression"].(string))
				require.NotNil(t, parts, "%v", expression)
				out = append(out, [2]string{parts[1], parts[2]})
				continue
			}
			out = append(out, [2]string{m[0].(string), m[1].(string)})
		}
	}
	return out
}

func TestKeyIsWatched(t *testing.T) {
	s := watched(t)
	child := s.children["ObservabilityStack"]
	role, key := s.resources["McpFunction"].properties["Role"], s.children["StateKey"].outputs["KeyArn"]
	filter := child.resources["CallsByOthers"].properties
	require.Equal(t, "trail", filter["LogGroupName"])
	pattern := filter["FilterPattern"].(string)
	require.LessOrEqual(t, len(pattern), 1024)
	for _, part := range []string{
		`$.eventName = "GenerateMac"`, fmt.Sprintf(`$.resources[0].ARN = "%s"`, key), `$.requestParameters.keyId = "*Key*"`,
		fmt.Sprintf(`$.userIdentity.sessionContext.sessionIssuer.arn != "%s"`, role), `sessionIssuer.arn NOT EXISTS`,
	} {
		require.Contains(t, pattern, part)
	}
	require.Equal(t, strings.Count(pattern, "("), strings.Count(pattern, ")"))
	for alarm, filter := range map[string]string{"KeyUsedByOthers": "CallsByOthers", "KeyChanged": "KeyChanges"} {
		transformation := child.resources[filter].properties["MetricTransformations"].([]any)[0].(object)
		require.Equal(t, transformation["MetricNamespace"], child.resources[alarm].properties["Namespace"])
		require.Equal(t, transformation["MetricName"], child.resources[alarm].properties["MetricName"])
	}
	require.Nil(t, deploy(t, variants["signed"]).children["ObservabilityStack"].resources["KeyUsedByOthers"], "without CloudTrail")
}

func TestUserPool(t *testing.T) {
	pool := deploy(t, variants["gateway"]).children["UserPoolStack"]
	resource := "https://mcp/McpApi.execute-api.eu-central-1.amazonaws.com/mcp"
	client := pool.resources["Client"].properties
	require.Equal(t, false, client["GenerateSecret"], "public, so PKCE")
	require.Equal(t, []any{"code"}, client["AllowedOAuthFlows"])
	require.Equal(t, []any{"openid", resource + "/call"}, client["AllowedOAuthScopes"])
	require.Equal(t, []any{"http://localhost:8765/callback"}, client["CallbackURLs"])
	require.Equal(t, resource, pool.resources["Resource"].properties["Identifier"], "the audience that tokens are issued for")
	users := pool.resources["Users"]
	require.True(t, users.retained)
	require.Equal(t, "ESSENTIALS", users.properties["UserPoolTier"])
	require.Equal(t, object{"AllowAdminCreateUserOnly": true}, users.properties["AdminCreateUserConfig"])
	require.Equal(t, "ON", users.properties["MfaConfiguration"])
	require.Regexp(t, `^mcp-`, pool.resources["Domain"].properties["Domain"])
}

func TestReplayTable(t *testing.T) {
	s := deploy(t, variants["signed"])
	table := s.children["ReplayStack"].resources["Claims"].properties
	require.Equal(t, "PAY_PER_REQUEST", table["BillingMode"])
	// As mrtr/dynamostore writes them.
	require.Equal(t, []any{object{"AttributeName": "flow", "KeyType": "HASH"}}, table["KeySchema"])
	require.Equal(t, object{"AttributeName": "expires", "Enabled": true}, table["TimeToLiveSpecification"])
	for _, f := range functions(t, s) {
		require.Equal(t, "mcp/ReplayStack/Claims", variables(f)["MRTR_REPLAY_TABLE"])
	}
	for _, f := range functions(t, watched(t)) {
		require.Empty(t, variables(f)["MRTR_REPLAY_TABLE"])
	}
}
