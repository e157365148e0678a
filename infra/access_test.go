package infra_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/stretchr/testify/require"
)

// grant is what one statement of a policy allows or denies.
type grant struct {
	effect, principal, action, resource, condition string
}

// grants takes statements apart. Each statement of ours has one action, except
// in a key's policy.
func grants(t *testing.T, statements any) []grant {
	t.Helper()
	var out []grant
	for _, s := range statements.([]any) {
		s := s.(object)
		require.NotContains(t, s, "NotAction")
		require.NotContains(t, s, "NotResource")
		require.NotContains(t, s, "NotPrincipal")
		for _, action := range list(s["Action"]) {
			for _, resource := range list(s["Resource"]) {
				out = append(out, grant{
					s["Effect"].(string), text(s["Principal"]), fmt.Sprint(action), fmt.Sprint(resource), text(s["Condition"]),
				})
			}
		}
	}
	return out
}

func list(v any) []any {
	if items, ok := v.([]any); ok {
		return items
	}
	return []any{v}
}

func text(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

const onlyHMAC = "map[StringEquals:map[kms:MacAlgorithm:HMAC_SHA_256]]"

// TestRole holds what the function may do to exactly this.
func TestRole(t *testing.T) {
	inEach(t, func(t *testing.T, s *stack, d deployment) {
		var got []grant
		for _, p := range s.resources["McpRole"].properties["Policies"].([]any) {
			got = append(got, grants(t, p.(object)["PolicyDocument"].(object)["Statement"])...)
		}
		for name, p := range s.of("AWS::IAM::RolePolicy") {
			require.Equal(t, "mcp/McpRole", p.properties["RoleName"], name)
			got = append(got, grants(t, p.properties["PolicyDocument"].(object)["Statement"])...)
		}
		key := s.children["StateKey"].outputs["KeyArn"].(string)
		want := []grant{
			{"Allow", "", "logs:CreateLogStream", "mcp/McpLogs.Arn", ""},
			{"Allow", "", "logs:PutLogEvents", "mcp/McpLogs.Arn", ""},
			{"Allow", "", "xray:PutTraceSegments", "*", ""},
			{"Allow", "", "xray:PutTelemetryRecords", "*", ""},
			{"Allow", "", "kms:GenerateMac", key, onlyHMAC},
		}
		if accepted := d.parameters["AcceptedKeyArns"]; accepted != "" {
			for arn := range strings.SplitSeq(accepted, ",") {
				want = append(want, grant{"Allow", "", "kms:GenerateMac", arn, onlyHMAC})
			}
		}
		if d.parameters["ReplayTable"] == "true" {
			want = append(want, grant{"Allow", "", "dynamodb:PutItem", "mcp/ReplayStack/Claims.Arn", ""})
		}
		require.ElementsMatch(t, want, got)
		require.NotContains(t, s.resources["McpRole"].properties, "ManagedPolicyArns")

		trust := s.resources["McpRole"].properties["AssumeRolePolicyDocument"].(object)["Statement"].([]any)
		require.Equal(t, []any{object{
			"Effect": "Allow", "Principal": object{"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole",
		}}, trust)
	})
}

// TestNoOtherRole shows that nothing else is given permissions, but CodeDeploy
// where it shifts traffic.
func TestNoOtherRole(t *testing.T) {
	inEach(t, func(t *testing.T, s *stack, d deployment) {
		want := []string{"mcp/McpRole"}
		if d.parameters["Deployment"] != "" {
			want = append(want, "mcp/CodeDeployServiceRole")
		}
		require.ElementsMatch(t, want, slices.Collect(maps.Keys(s.of("AWS::IAM::Role"))))
		require.Empty(t, s.of("AWS::IAM::Policy"))
		require.Empty(t, s.of("AWS::IAM::ManagedPolicy"))
		for name, p := range s.of("AWS::Lambda::Permission") {
			api := "mcp/McpApi"
			if strings.Contains(name, "RestApiStack") {
				api = "mcp/RestApiStack/Api"
			}
			require.Equal(t, object{
				"FunctionName": p.properties["FunctionName"], "Action": "lambda:InvokeFunction", "Principal": "apigateway.amazonaws.com",
				"SourceArn": fmt.Sprintf("arn:%s:execute-api:%s:123456789012:%s/*", s.values["AWS::Partition"], s.values["AWS::Region"], api),
			}, p.properties)
			require.Contains(t, p.properties["FunctionName"], "Aliaslive", "of the alias alone")
		}
	})
}

func TestKey(t *testing.T) {
	inEach(t, func(t *testing.T, s *stack, d deployment) {
		kind := "AWS::KMS::Key"
		if d.parameters["PrimaryKeyArn"] != "" {
			kind = "AWS::KMS::ReplicaKey"
		}
		keys := s.of(kind)
		require.Len(t, keys, 1)
		require.Equal(t, 1, len(s.of("AWS::KMS::Key"))+len(s.of("AWS::KMS::ReplicaKey")))
		for _, key := range keys {
			require.True(t, key.retained)
			if kind == "AWS::KMS::Key" {
				require.Equal(t, "HMAC_256", key.properties["KeySpec"])
				require.Equal(t, "GENERATE_VERIFY_MAC", key.properties["KeyUsage"])
				require.Equal(t, d.parameters["MultiRegionKey"] == "true", key.properties["MultiRegion"] == "true")
			} else {
				require.Equal(t, d.parameters["PrimaryKeyArn"], key.properties["PrimaryKeyArn"])
			}
			requireKeyPolicy(t, s, d, key.properties["KeyPolicy"].(object)["Statement"])
		}
		aliases := s.of("AWS::KMS::Alias")
		require.Equal(t, "alias/mcp-state", aliases["mcp/StateKey/Alias"].properties["AliasName"])
	})
}

// requireKeyPolicy requires that the function's role may use the key and do
// nothing else with it, that nobody else may use it, and that administrators are
// who they should be.
func requireKeyPolicy(t *testing.T, s *stack, d deployment, statements any) {
	t.Helper()
	role := s.resources["McpFunction"].properties["Role"].(string)
	administrators := fmt.Sprintf("map[AWS:arn:%s:iam::123456789012:root]", s.values["AWS::Partition"])
	if given := d.parameters["KeyAdministratorArns"]; given != "" {
		administrators = fmt.Sprintf("map[AWS:[%s]]", given)
	}
	use := []string{"kms:GenerateMac", "kms:VerifyMac"}
	var rest []grant
	for _, g := range grants(t, statements) {
		if g.principal == administrators {
			require.Equal(t, "Allow", g.effect)
			require.NotContains(t, use, g.action)
			require.NotContains(t, g.action, "*")
			require.NotEqual(t, "kms:CreateGrant", g.action)
			continue
		}
		rest = append(rest, g)
	}
	others := fmt.Sprintf("map[ArnNotEquals:map[aws:PrincipalArn:%s]]", role)
	require.ElementsMatch(t, []grant{
		{"Allow", fmt.Sprintf("map[AWS:%s]", role), "kms:GenerateMac", "*", onlyHMAC},
		{"Deny", "*", "kms:GenerateMac", "*", others},
		{"Deny", "*", "kms:VerifyMac", "*", others},
		{"Deny", "*", "kms:CreateGrant", "*", ""},
	}, rest)
}

// TestReplicaHasTheKeysPolicy compares the two that key.yaml spells out.
func TestReplicaHasTheKeysPolicy(t *testing.T) {
	resources := translate(t, "key.yaml", deployment{region: "eu-central-1"})["Resources"].(object)
	policy := func(id string) any { return resources[id].(object)["Properties"].(object)["KeyPolicy"] }
	require.Equal(t, policy("Key"), policy("Replica"))
}

// TestOrder shows what is made before what, and that nothing waits for itself.
func TestOrder(t *testing.T) {
	inEach(t, func(t *testing.T, s *stack, d deployment) {
		requireNoCycle(t, s)
		chain := []string{"McpRole", "StateKey", "UseStateKey", "McpFunction"}
		for i := range chain[1:] {
			require.True(t, s.before(chain[i], chain[i+1]), "%s before %s", chain[i], chain[i+1])
		}
		if s.resources["RestApiStack"] != nil {
			require.True(t, s.before("UseStateKey", "RestApiStack"))
		}
	})
}

func requireNoCycle(t *testing.T, s *stack) {
	t.Helper()
	state := map[string]int{} // 1: on the way, 2: done
	var visit func(id string, way []string)
	visit = func(id string, way []string) {
		way = append(way, id)
		require.NotEqual(t, 1, state[id], "%s waits for itself: %v", s.name, way)
		if state[id] == 2 {
			return
		}
		state[id] = 1
		for needed := range s.resources[id].needs {
			if s.resources[needed] != nil { // DependsOn what is not made counts for nothing
				visit(needed, way)
			}
		}
		state[id] = 2
	}
	for id := range s.resources {
		visit(id, nil)
	}
	for _, c := range s.children {
		requireNoCycle(t, c)
	}
}

// TestEachTemplateAlone evaluates every nested template with the least that it
// asks for.
func TestEachTemplateAlone(t *testing.T) {
	role := "arn:aws:iam::123456789012:role/mcp"
	for file, parameters := range map[string]map[string]string{
		"key.yaml":           {"UserRoleArn": role},
		"rest.yaml":          {"RoleArn": role, "LogGroupName": "logs", "KeyId": "alias/key", "Audience": "a", "Auth": "iam"},
		"auth-cognito.yaml":  {"ResourceUrl": "https://mcp.example.com/mcp"},
		"observability.yaml": {"FunctionName": "mcp"},
		"replay.yaml":        {"UserRoleName": "mcp"},
	} {
		t.Run(file, func(t *testing.T) {
			s := evaluate(t, "alone", file, deployment{parameters: parameters})
			require.Empty(t, s.broken)
			require.NotEmpty(t, s.resources)
			requireNoCycle(t, s)
		})
	}
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	var templates int
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".yaml") {
			templates++
		}
	}
	require.Equal(t, 5, templates, "a template that is not tried alone")
}

// TestEmptyEndpoint shows that the variable which the template sets, empty by
// default, is none for the SDK.
func TestEmptyEndpoint(t *testing.T) {
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	t.Setenv("AWS_CA_BUNDLE", "")
	t.Setenv("AWS_REGION", "eu-central-1")
	for value, want := range map[string]string{"": "", "https://kms.example.com": "https://kms.example.com"} {
		t.Setenv("AWS_ENDPOINT_URL_KMS", value)
		cfg, err := config.LoadDefaultConfig(t.Context())
		require.NoError(t, err)
		var got string
		if base := kms.NewFromConfig(cfg).Options().BaseEndpoint; base != nil {
			got = *base
		}
		require.Equal(t, want, got)
	}
}
