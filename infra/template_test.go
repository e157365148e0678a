// Package infra_test holds the templates to what they promise, as the SAM
// translator makes them and CloudFormation carries them out, and plays the
// function in a container with the SAM CLI.
package infra_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const issuer = "https://issuer.example.com"

// variants are deployments that together make everything there is.
var variants = map[string]deployment{
	"least": {parameters: map[string]string{"Auth": "none", "Observability": "false"}},
	"signed": {parameters: map[string]string{
		"Auth": "iam", "RestApi": "true", "ReplayTable": "true", "ReservedConcurrency": "0",
	}},
	"tokens": {parameters: map[string]string{
		"Auth": "jwt", "OAuthIssuer": issuer, "RestApi": "true", "Release": "0a",
		"Deployment": "Canary10Percent5Minutes", "AcceptedKeyArns": "arn:aws:kms:eu-central-1:123456789012:key/previous,arn:aws:kms:eu-central-1:123456789012:key/next",
		"CloudTrailLogGroup": "trail", "AlarmTopicArn": "arn:aws:sns:eu-central-1:123456789012:alarms",
	}},
	"gateway": {parameters: map[string]string{
		"Auth": "gateway-jwt", "UserPool": "true", "OAuthAudiences": "one,two",
		"KeyAdministratorArns": "arn:aws:iam::123456789012:role/security", "MultiRegionKey": "true",
	}},
	"second region": {region: "us-gov-west-1", parameters: map[string]string{
		"Auth": "jwt", "OAuthIssuer": issuer, "OAuthResource": "https://mcp.example.com/base/mcp", "RestApi": "true",
		"Audience": "global", "PrimaryKeyArn": "arn:aws-us-gov:kms:us-gov-east-1:123456789012:key/mrk-0123456789abcdef",
	}},
	"china": {region: "cn-north-1", parameters: map[string]string{
		"Auth": "jwt", "OAuthIssuer": issuer, "RestApi": "true", "Deployment": "Linear10PercentEvery1Minute", "CloudTrailLogGroup": "trail",
	}},
}

// inEach runs a test on every variant.
func inEach(t *testing.T, test func(t *testing.T, s *stack, d deployment)) {
	for name, d := range variants {
		t.Run(name, func(t *testing.T) {
			s := deploy(t, d)
			require.Empty(t, s.broken)
			test(t, s, d)
		})
	}
}

// functions returns the functions of a stack by the response mode they run in.
func functions(t *testing.T, s *stack) map[string]*resource {
	out := map[string]*resource{}
	for _, f := range s.of("AWS::Lambda::Function") {
		mode, _ := variables(f)["MRTR_RESPONSE_MODE"].(string)
		out[mode] = f
	}
	require.Contains(t, out, "")
	return out
}

func variables(function *resource) object {
	return function.properties["Environment"].(object)["Variables"].(object)
}

func TestRoutes(t *testing.T) {
	inEach(t, func(t *testing.T, s *stack, d deployment) {
		guarded := map[string]string{"jwt": "NONE", "none": "NONE", "iam": "AWS_IAM", "gateway-jwt": "JWT"}[d.parameters["Auth"]]
		got := map[string]string{}
		for _, r := range s.of("AWS::ApiGatewayV2::Route") {
			got[r.properties["RouteKey"].(string)] = r.properties["AuthorizationType"].(string)
			require.Equal(t, guarded == "JWT" && r.properties["RouteKey"] == "ANY /mcp", r.properties["AuthorizerId"] != nil)
		}
		require.Equal(t, map[string]string{
			"ANY /mcp":     guarded,
			"OPTIONS /mcp": "NONE",
			"ANY /.well-known/oauth-protected-resource":     "NONE",
			"ANY /.well-known/oauth-protected-resource/mcp": "NONE",
		}, got)

		authorizers := s.of("AWS::ApiGatewayV2::Authorizer")
		if guarded != "JWT" {
			require.Empty(t, authorizers)
			return
		}
		require.Equal(t, object{
			"Issuer":   "mcp/UserPoolStack/Users.ProviderURL",
			"Audience": []any{"https://mcp/McpApi.execute-api.eu-central-1.amazonaws.com/mcp", "one", "two"},
		}, authorizers["mcp/McpAuthorizer"].properties["JwtConfiguration"])
	})
}

func TestApis(t *testing.T) {
	inEach(t, func(t *testing.T, s *stack, d deployment) {
		stage := s.resources["McpStage"].properties
		require.Equal(t, "$default", stage["StageName"])
		require.Equal(t, object{"ThrottlingRateLimit": "50", "ThrottlingBurstLimit": "100"}, stage["DefaultRouteSettings"])
		requireAccessLog(t, stage["AccessLogSettings"].(object)["Format"].(string))
		require.Equal(t, "2.0", s.resources["McpIntegration"].properties["PayloadFormatVersion"])
		require.Equal(t, fmt.Sprintf("arn:%s:apigateway:%s:lambda:path/2015-03-31/functions/mcp/McpFunction.Arn:live/invocations",
			s.values["AWS::Partition"], s.values["AWS::Region"]), s.resources["McpIntegration"].properties["IntegrationUri"])

		methods := s.of("AWS::ApiGateway::Method")
		if d.parameters["RestApi"] != "true" {
			require.Empty(t, methods)
			return
		}
		require.Len(t, methods, 4)
		for name, m := range methods {
			auth := "NONE"
			if strings.HasSuffix(name, "/McpMethod") && d.parameters["Auth"] == "iam" {
				auth = "AWS_IAM"
			}
			require.Equal(t, auth, m.properties["AuthorizationType"], name)
			integration := m.properties["Integration"].(object)
			require.Equal(t, "STREAM", integration["ResponseTransferMode"])
			require.EqualValues(t, 120000, integration["TimeoutInMillis"])
			require.Equal(t, fmt.Sprintf("arn:%s:apigateway:%s:lambda:path/2021-11-15/functions/mcp/RestApiStack/StreamFunction.Arn:live/response-streaming-invocations",
				s.values["AWS::Partition"], s.values["AWS::Region"]), integration["Uri"])
		}
		rest := s.children["RestApiStack"]
		settings := rest.resources["Stage"].properties["MethodSettings"].([]any)[0].(object)
		require.Equal(t, object{
			"HttpMethod": "*", "ResourcePath": "/*", "ThrottlingRateLimit": "50", "ThrottlingBurstLimit": "100",
			"LoggingLevel": "OFF", "DataTraceEnabled": false,
		}, settings)
		for name := range methods {
			for _, deployment := range []string{"DeploymentSigned1", "DeploymentOpen1"} {
				if rest.resources[deployment] != nil {
					require.True(t, rest.before(strings.TrimPrefix(name, "mcp/RestApiStack/"), deployment))
				}
			}
		}
	})
}

// requireAccessLog requires a line of JSON that has nothing a client sent but
// where it is and what route it took.
func requireAccessLog(t *testing.T, format string) {
	t.Helper()
	var line map[string]string
	require.NoError(t, json.Unmarshal([]byte(format), &line))
	allowed := []string{
		"$context.requestId", "$context.requestTime", "$context.identity.sourceIp", "$context.httpMethod", "$context.routeKey",
		"$context.status", "$context.responseLength", "$context.responseLatency", "$context.integrationLatency",
		"$context.integrationStatus", "$context.integrationErrorMessage", "$context.authorizer.error", "$context.error.responseType",
	}
	for _, variable := range line {
		require.Contains(t, allowed, variable)
	}
}

func TestFunctions(t *testing.T) {
	settings, err := os.ReadFile("../mrtr/awslambda/doc.go")
	require.NoError(t, err)
	read := regexp.MustCompile(`MRTR_[A-Z_]+`).FindAllString(string(settings), -1)
	inEach(t, func(t *testing.T, s *stack, d deployment) {
		byMode := functions(t, s)
		require.Len(t, byMode, len(s.of("AWS::Lambda::Function")), "one function a response mode")
		require.Equal(t, d.parameters["RestApi"] == "true", byMode["stream"] != nil)
		for mode, f := range byMode {
			p := f.properties
			require.Equal(t, "provided.al2023", p["Runtime"])
			require.Equal(t, []any{"arm64"}, p["Architectures"])
			require.Equal(t, object{"Mode": "Active"}, p["TracingConfig"])
			require.Equal(t, s.resources["McpFunction"].properties["Role"], p["Role"], "the key's policy names one role")
			require.Equal(t, object{
				"LogGroup": "mcp/McpLogs", "LogFormat": "JSON", "ApplicationLogLevel": "INFO", "SystemLogLevel": "INFO",
			}, p["LoggingConfig"])
			reserved, given := d.parameters["ReservedConcurrency"]
			if given {
				require.Equal(t, reserved, p["ReservedConcurrentExecutions"])
			} else {
				require.NotContains(t, p, "ReservedConcurrentExecutions")
			}
			env := variables(f)
			for name := range env {
				require.True(t, name == "AWS_ENDPOINT_URL_KMS" || slices.Contains(read, name), "nothing reads %s", name)
			}
			require.Empty(t, env["AWS_ENDPOINT_URL_KMS"])
			require.NotEmpty(t, env["MRTR_AUDIENCE"])
			require.Equal(t, "alias/mcp-state", env["MRTR_KMS_KEY_ID"])
			if mode == "stream" {
				require.Equal(t, variables(byMode[""])["MRTR_AUDIENCE"], env["MRTR_AUDIENCE"], "a flow may change the API")
				require.Equal(t, variables(byMode[""])["MRTR_KMS_ACCEPT_KEY_IDS"], env["MRTR_KMS_ACCEPT_KEY_IDS"])
			}
		}
	})
}

// TestOAuthSettings holds the function's settings of OAuth to the URL that
// clients call, and to nothing where there are no tokens.
func TestOAuthSettings(t *testing.T) {
	inEach(t, func(t *testing.T, s *stack, d deployment) {
		for mode, f := range functions(t, s) {
			env := variables(f)
			auth := d.parameters["Auth"]
			resource := fmt.Sprintf("https://mcp/McpApi.execute-api.%s.%s/mcp", s.values["AWS::Region"], s.values["AWS::URLSuffix"])
			if mode == "stream" {
				resource = fmt.Sprintf("https://mcp/RestApiStack/Api.execute-api.%s.%s/prod/mcp", s.values["AWS::Region"], s.values["AWS::URLSuffix"])
				if auth == "gateway-jwt" {
					auth = "jwt"
				}
			} else if given := d.parameters["OAuthResource"]; given != "" {
				resource = given
			}
			require.Equal(t, auth, env["MRTR_AUTH"])
			switch d.parameters["Auth"] {
			case "jwt":
				require.Equal(t, issuer, env["MRTR_OAUTH_ISSUER"])
			case "gateway-jwt":
				require.Equal(t, "mcp/UserPoolStack/Users.ProviderURL", env["MRTR_OAUTH_ISSUER"])
			default:
				for name, value := range env {
					require.False(t, strings.HasPrefix(name, "MRTR_OAUTH_") && value != "", "%s is set", name)
				}
				continue
			}
			require.Equal(t, resource, env["MRTR_OAUTH_RESOURCE"])
		}
	})
}

func TestLogGroups(t *testing.T) {
	inEach(t, func(t *testing.T, s *stack, d deployment) {
		groups := s.of("AWS::Logs::LogGroup")
		require.GreaterOrEqual(t, len(groups), 2)
		for name, g := range groups {
			require.Equal(t, "30", g.properties["RetentionInDays"], name)
		}
	})
}

// TestReleases shows that each release is a version of its own, and that
// parameters belong to it.
func TestReleases(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "bootstrap")
	require.NoError(t, os.WriteFile(binary, []byte("binary"), 0o666))
	release := func(file string, parameters ...string) string {
		out, err := exec.CommandContext(t.Context(), "./release.sh", append([]string{binary, "infra/parameters/" + file}, parameters...)...).Output()
		require.NoError(t, err)
		name := strings.TrimSpace(string(out))
		require.Regexp(t, `^[0-9a-f]{40}$`, name)
		return name
	}
	names := []string{
		release("dev.yaml"), release("prod.yaml"), release("dev.yaml", "MemorySize=512"),
		release("dev.yaml", "MemorySize=512", "Timeout=9"), release("dev.yaml", "MemorySize=512 Timeout=9"),
	}
	require.Equal(t, names[0], release("dev.yaml"))
	require.NoError(t, os.WriteFile(binary, []byte("another"), 0o666))
	names = append(names, release("dev.yaml"))
	slices.Sort(names)
	require.Len(t, slices.Compact(names), 6)

	version := func(parameters ...string) []string {
		p := map[string]string{"Auth": "none", "RestApi": "true", "Observability": "false", "Release": release("dev.yaml", parameters...)}
		s := deploy(t, deployment{parameters: p})
		var ids []string
		for path, v := range s.of("AWS::Lambda::Version") {
			require.True(t, v.retained, "flows may go on with an older version while traffic shifts")
			ids = append(ids, path)
		}
		require.Len(t, ids, 2, "of each function")
		slices.Sort(ids)
		require.Contains(t, fmt.Sprint(s.resources["McpFunctionAliaslive"].properties["FunctionVersion"]), "McpFunctionVersion")
		return ids
	}
	one, two := version("MemorySize=512"), version("MemorySize=1024")
	for i := range one {
		require.NotEqual(t, one[i], two[i])
	}
	require.Equal(t, one, version("MemorySize=512"))
}

func TestDeployments(t *testing.T) {
	inEach(t, func(t *testing.T, s *stack, d deployment) {
		groups, alias := s.of("AWS::CodeDeploy::DeploymentGroup"), s.resources["McpFunctionAliaslive"].properties
		if d.parameters["Deployment"] == "" {
			require.Empty(t, groups)
			require.Empty(t, s.of("AWS::CodeDeploy::Application"))
			require.NotContains(t, alias, "UpdatePolicy")
			require.Nil(t, s.resources["RollbackOnErrors"])
			return
		}
		require.Contains(t, alias, "UpdatePolicy")
		group := s.resources["McpFunctionDeploymentGroup"].properties
		require.Equal(t, "CodeDeployDefault.Lambda"+d.parameters["Deployment"], group["DeploymentConfigName"])
		require.Contains(t, group["AutoRollbackConfiguration"].(object)["Events"], "DEPLOYMENT_STOP_ON_ALARM")
		require.Equal(t, object{"Enabled": true, "Alarms": []any{
			object{"Name": "mcp/RollbackOnErrors"}, object{"Name": "mcp/RollbackOnFailures"}, object{"Name": "mcp/RollbackOnRefusals"},
		}}, group["AlarmConfiguration"])
		counted := reasons(t, s.resources["RollbackOnRefusals"], "Refused")
		require.Contains(t, counted, "unknown_version")
		require.NotContains(t, counted, "revision", "a new revision refuses old states, as it should")
		require.NotContains(t, counted, "diverged")
		require.NotContains(t, counted, "round_expired")
	})
}

// reasons returns which reasons an alarm of one metric adds up.
func reasons(t *testing.T, alarm *resource, metric string) []string {
	var out []string
	for _, m := range alarm.properties["Metrics"].([]any) {
		stat, ok := m.(object)["MetricStat"].(object)
		if !ok {
			require.Equal(t, "SUM(METRICS())", m.(object)["Expression"])
			continue
		}
		require.Equal(t, metric, stat["Metric"].(object)["MetricName"])
		dimensions := stat["Metric"].(object)["Dimensions"].([]any)
		require.Equal(t, object{"Name": "FunctionName", "Value": "mcp/McpFunction"}, dimensions[0])
		require.Equal(t, "Reason", dimensions[1].(object)["Name"])
		out = append(out, dimensions[1].(object)["Value"].(string))
	}
	require.LessOrEqual(t, len(out), 10, "an alarm takes ten metrics")
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(out))), len(out))
	return out
}

func TestRules(t *testing.T) {
	for name, tc := range map[string]struct {
		parameters map[string]string
		broken     string
	}{
		"tokens of nobody":     {map[string]string{"Auth": "jwt"}, "OAuthIssuer says"},
		"two issuers":          {map[string]string{"Auth": "jwt", "UserPool": "true", "OAuthIssuer": issuer}, "OAuthIssuer stays empty"},
		"a pool for nothing":   {map[string]string{"Auth": "iam", "UserPool": "true"}, "Auth is jwt or gateway-jwt"},
		"replica, no audience": {map[string]string{"Auth": "iam", "PrimaryKeyArn": "arn:aws:kms:eu-west-1:123456789012:key/mrk-0a"}, "Audience"},
		"replay with replica": {map[string]string{
			"Auth": "iam", "Audience": "a", "ReplayTable": "true", "PrimaryKeyArn": "arn:aws:kms:eu-west-1:123456789012:key/mrk-0a",
		}, "ReplayTable"},
		"replay, many regions": {map[string]string{"Auth": "iam", "ReplayTable": "true", "MultiRegionKey": "true"}, "ReplayTable"},
	} {
		t.Run(name, func(t *testing.T) {
			s := deploy(t, deployment{parameters: tc.parameters})
			require.Len(t, s.broken, 1)
			require.Contains(t, s.broken[0], tc.broken)
		})
	}
}

// TestAuthHasNoDefault shows that an open endpoint has to be asked for.
func TestAuthHasNoDefault(t *testing.T) {
	template := translate(t, "../template.yaml", deployment{region: "eu-central-1"})
	require.NotContains(t, template["Parameters"].(object)["Auth"].(object), "Default")
}

func TestParameterFiles(t *testing.T) {
	files, err := filepath.Glob("parameters/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 2)
	broken := map[string]int{"parameters/dev.yaml": 0, "parameters/prod.yaml": 1} // prod has no issuer yet
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		parameters := map[string]string{}
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && !strings.HasPrefix(line, "#") {
				parameters[name] = strings.Trim(value, `"`)
			}
		}
		require.NotEmpty(t, parameters["Auth"])
		require.Len(t, deploy(t, deployment{parameters: parameters}).broken, broken[file], file)
	}
}

// TestDocumentedParameters compares the table in docs/deploy.md with the
// template.
func TestDocumentedParameters(t *testing.T) {
	page, err := os.ReadFile("../docs/deploy.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(page), "\n## Parameters\n")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n## ")
	documented := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\| (.+?) \\|").FindAllStringSubmatch(table, -1) {
		documented[row[1]] = row[2]
	}
	parameters := translate(t, "../template.yaml", deployment{region: "eu-central-1"})["Parameters"].(object)
	require.ElementsMatch(t, slices.Collect(maps.Keys(parameters)), slices.Collect(maps.Keys(documented)))
	for name, said := range documented {
		switch value, ok := parameters[name].(object)["Default"]; {
		case !ok:
			require.True(t, strings.HasPrefix(said, "none"), name)
		case value == "":
			require.True(t, strings.HasPrefix(said, "empty"), name)
		default:
			require.Equal(t, fmt.Sprintf("`%v`", value), said, name)
		}
	}
}

// TestNothingIsNamedByPartition shows that no template writes an ARN or a host
// that belongs to one partition.
func TestNothingIsNamedByPartition(t *testing.T) {
	for _, name := range []string{"second region", "china"} {
		d := variants[name]
		s := deploy(t, d)
		kinds := map[string]bool{}
		// Service principals have one name everywhere.
		principals := strings.NewReplacer("apigateway.amazonaws.com", "", "lambda.amazonaws.com", "", "kms.amazonaws.com", "", "codedeploy.amazonaws.com", "")
		check := func(where string, part any) {
			text, err := json.Marshal(part)
			require.NoError(t, err)
			arns := strings.Split(string(text), "arn:")
			for _, arn := range arns[1:] {
				require.True(t, strings.HasPrefix(arn, regions[d.region][0]+":"), "%s: arn:%.40s", where, arn)
			}
			if suffix := regions[d.region][1]; suffix != "amazonaws.com" {
				hosts := strings.ReplaceAll(principals.Replace(string(text)), suffix, "")
				require.NotContains(t, hosts, "amazonaws.com", where)
			}
		}
		var walk func(s *stack)
		walk = func(s *stack) {
			for id, r := range s.resources {
				kinds[r.kind] = true
				check(s.name+"/"+id, r.properties)
			}
			check(s.name+"'s outputs", s.outputs)
			for _, c := range s.children {
				walk(c)
			}
		}
		walk(s)
		require.Contains(t, slices.Collect(maps.Keys(kinds)), "AWS::ApiGateway::Method")
	}
}
