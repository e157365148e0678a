package infra_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/functions/mcp/tools"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
)

// samVariable names the SAM CLI. Without it the tests in containers are
// skipped; make sam sets it, after sam build.
const samVariable = "MRTR_SAM_CLI"

// local plays the built function in containers. Its emulator answers 200 to
// errors of the function too, holds streams back until they end, and dies of two
// calls at one time: what counts are the bodies, one call after the other.
type local struct {
	sam        string
	arguments  []string // of every command: which image, and the parameters that all share
	env        []string // of the command
	containers string   // file with the function's environment, where the template leaves it to AWS
}

// startLocal prepares the image and a fake KMS that containers reach. What is
// played there calls tools of the contract: with others in package tools, as
// forks have, the test is skipped.
func startLocal(t *testing.T) *local {
	t.Helper()
	sam := os.Getenv(samVariable)
	if sam == "" {
		t.Skipf("%s is not set; make sam sets it", samVariable)
	}
	if !tools.NewServer().HasTool("test_tool_with_elicitation") {
		t.Skip("package tools does not offer the tools of the contract, which this test calls")
	}
	architecture := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]

	base, err := prepareImage(architecture)
	require.NoError(t, err)
	t.Logf("base image of the containers: %s", base)

	kms := kmstest.NewServer(kmstest.Options{})
	t.Cleanup(kms.Close)
	key := kms.CreateKey(kmstest.KeyOptions{}).ARN

	// What AWS would put in: outputs of nested stacks, and what depends on them.
	function := map[string]string{
		"MRTR_KMS_KEY_ID": key, "MRTR_KMS_ACCEPT_KEY_IDS": "", "MRTR_AUDIENCE": "events",
	}
	l := &local{sam: sam, containers: filepath.Join(t.TempDir(), "env.json")}
	l.writeEnvironment(t, function)
	l.arguments = []string{
		"--env-vars", l.containers,
		"--parameter-overrides", "Architecture=" + architecture, "AllowedOrigins=https://app.example.com",
		"KmsEndpointUrl=" + forward(t, kms.URL),
	}
	if base == "stand-in" {
		l.arguments = append([]string{"--skip-pull-image"}, l.arguments...)
	}
	for _, name := range []string{"PATH", "HOME", "DOCKER_HOST"} {
		if value, ok := os.LookupEnv(name); ok {
			l.env = append(l.env, name+"="+value)
		}
	}
	l.env = append(l.env, "SAM_CLI_TELEMETRY=0", "AWS_REGION="+kmstest.DefaultRegion, "AWS_DEFAULT_REGION="+kmstest.DefaultRegion,
		"AWS_ACCESS_KEY_ID=AKIDEXAMPLE000000000", "AWS_SECRET_ACCESS_KEY=not-a-secret",
		// Each command asks AWS whose credentials these are, and goes on without an answer.
		"AWS_ENDPOINT_URL_STS=http://127.0.0.1:1", "AWS_MAX_ATTEMPTS=1",
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull)
	return l
}

// prepareImage makes the base image be there, once, and says which it is.
var prepareImage = func() func(string) (string, error) {
	var once sync.Once
	var said []byte
	var err error
	return func(architecture string) (string, error) {
		once.Do(func() {
			cmd := exec.Command("local/image.sh", architecture)
			cmd.Stderr = os.Stderr
			said, err = cmd.Output()
		})
		return strings.TrimSpace(string(said)), err
	}
}()

func (l *local) writeEnvironment(t *testing.T, function map[string]string) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"McpFunction": function, "StreamFunction": function})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(l.containers, text, 0o666))
}

// forward makes a server on the loopback address reachable from containers.
func forward(t *testing.T, to string) string {
	t.Helper()
	target, err := url.Parse(to)
	require.NoError(t, err)
	host, name := "127.0.0.1", "host.docker.internal" // where Docker runs in a machine of its own
	if bridge, err := net.InterfaceByName("docker0"); err == nil {
		addresses, err := bridge.Addrs()
		require.NoError(t, err)
		require.NotEmpty(t, addresses)
		ip, _, err := net.ParseCIDR(addresses[0].String())
		require.NoError(t, err)
		host, name = ip.String(), ip.String()
	}
	ln, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	require.NoError(t, err)
	srv := &http.Server{Handler: httputil.NewSingleHostReverseProxy(target), ReadHeaderTimeout: 10 * time.Second}
	go srv.Serve(ln)
	t.Cleanup(func() { srv.Close() })
	_, port, err := net.SplitHostPort(ln.Addr().String())
	require.NoError(t, err)
	return "http://" + net.JoinHostPort(name, port)
}

// command returns a command of sam local with further parameters.
func (l *local) command(ctx context.Context, what []string, parameters ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, l.sam, slices.Concat([]string{"local"}, what, l.arguments, parameters)...)
	cmd.Dir, cmd.Env = "..", l.env
	return cmd
}

// invoke plays one event in a new container and returns the reply.
func (l *local) invoke(t *testing.T, function string, event []byte, parameters ...string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "event.json")
	require.NoError(t, os.WriteFile(file, event, 0o666))
	cmd := l.command(t.Context(), []string{"invoke", function, "--event", file}, parameters...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	reply, err := cmd.Output()
	require.NoError(t, err, "%s", stderr.String())
	require.NotEmpty(t, bytes.TrimSpace(reply), "%s", stderr.String())
	return reply
}

// authParameters are what an event's name asks for, as in functions/mcp.
func authParameters(name string) (function map[string]string, parameters []string) {
	switch {
	case strings.Contains(name, "-jwt-"):
		return map[string]string{
				"MRTR_OAUTH_ISSUER": "https://issuer.example.com", "MRTR_OAUTH_RESOURCE": "https://mcp.example.com/mcp",
			}, []string{
				"Auth=gateway-jwt", "OAuthScopes=mcp",
			}
	case strings.Contains(name, "-iam-"):
		return nil, []string{"Auth=iam"}
	}
	return nil, []string{"Auth=none"}
}

// TestInvoke plays every file of events/ in a container of its own and compares
// the reply with its golden file.
func TestInvoke(t *testing.T) {
	l := startLocal(t)
	shared, err := os.ReadFile(l.containers)
	require.NoError(t, err)
	files, err := filepath.Glob("../events/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(strings.TrimSuffix(name, ".json"), func(t *testing.T) {
			function, parameters := authParameters(name)
			var env map[string]map[string]string
			require.NoError(t, json.Unmarshal(shared, &env))
			for k, v := range function {
				env["McpFunction"][k] = v
			}
			l.writeEnvironment(t, env["McpFunction"])

			event, err := os.ReadFile(file)
			require.NoError(t, err)
			golden, err := os.ReadFile(filepath.Join("../events/golden", name))
			require.NoError(t, err)
			var want any
			require.NoError(t, json.Unmarshal(golden, &want))
			require.Equal(t, want, readable(t, l.invoke(t, "McpFunction", event, parameters...)))
		})
	}
}

// readable returns a reply as golden files have it: a JSON body as JSON, every
// state masked.
func readable(t *testing.T, reply []byte) any {
	t.Helper()
	var out object
	require.NoError(t, json.Unmarshal(reply, &out), "%s", reply)
	if text, ok := out["body"].(string); ok {
		var body any
		if json.Unmarshal([]byte(text), &body) == nil {
			mask(body)
			out["body"] = body
		}
	}
	return out
}

func mask(node any) {
	switch n := node.(type) {
	case object:
		for k, v := range n {
			if text, ok := v.(string); ok && k == "requestState" && len(text) > 100 {
				n[k] = "<sealed>"
			}
			mask(v)
		}
	case []any:
		for _, v := range n {
			mask(v)
		}
	}
}

// TestNextRound plays two rounds in two containers, the second from the event
// that events/next makes.
func TestNextRound(t *testing.T) {
	l := startLocal(t)
	event := "../events/http-api-test_tool_with_elicitation.json"
	first, err := os.ReadFile(event)
	require.NoError(t, err)
	reply := filepath.Join(t.TempDir(), "reply.json")
	require.NoError(t, os.WriteFile(reply, l.invoke(t, "McpFunction", first, "Auth=none"), 0o666))
	second, err := exec.CommandContext(t.Context(), "go", "run", "../events/next",
		"-answers", `{"user_name":{"action":"accept","content":{"name":"Ada"}}}`, event, reply).Output()
	require.NoError(t, err)
	text, err := json.Marshal(readable(t, l.invoke(t, "McpFunction", second, "Auth=none")))
	require.NoError(t, err)
	require.Contains(t, string(text), "Ada")
	require.NotContains(t, string(text), "input_required")
}

// TestStream plays an event of a REST API in the function that streams.
func TestStream(t *testing.T) {
	l := startLocal(t)
	event, err := os.ReadFile("../events/rest-api.json")
	require.NoError(t, err)
	reply := l.invoke(t, "StreamFunction", event, "Auth=none", "RestApi=true")
	prelude, body, ok := bytes.Cut(reply, make([]byte, 8))
	require.True(t, ok, "no streamed reply: %s", reply)
	require.Contains(t, string(prelude), `"statusCode":200`)
	require.Contains(t, string(body), `"input_required"`)
}

// TestStartAPI makes a call of two rounds over HTTP, each in a container of its
// own.
func TestStartAPI(t *testing.T) {
	l := startLocal(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(ln.Addr().String())
	require.NoError(t, err)
	require.NoError(t, ln.Close())

	// The emulator knows no authorizers of this kind, and trips over a route that has one by condition.
	cmd := l.command(t.Context(), []string{"start-api", "--port", port, "--disable-authorizer", "--template", httpAPIAlone(t)}, "Auth=none")
	var log lockedBuffer
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 20 * time.Second
	require.NoError(t, cmd.Start())
	exited := make(chan struct{})
	go func() { defer close(exited); cmd.Wait() }()
	defer func() { cmd.Cancel(); <-exited }()
	address := net.JoinHostPort("127.0.0.1", port)
	for up := false; !up; { // there is nothing but the port to tell that it serves
		select {
		case <-exited:
			t.Fatalf("sam local start-api ended:\n%s", log.String())
		case <-time.After(100 * time.Millisecond):
		}
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			up = true
		}
	}

	call := func(id int, params object) object {
		t.Helper()
		params["name"] = "test_tool_with_elicitation"
		params["arguments"] = object{}
		params["_meta"] = object{
			"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
			"io.modelcontextprotocol/clientInfo":         object{"name": "sam", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": object{"elicitation": object{"form": object{}}},
		}
		body, err := json.Marshal(object{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
		require.NoError(t, err)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/mcp", bytes.NewReader(body))
		require.NoError(t, err)
		for k, v := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "test_tool_with_elicitation",
		} {
			req.Header.Set(k, v)
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, res.StatusCode, "%s\n%s", text, log.String())
		var reply struct{ Result object }
		require.NoError(t, json.Unmarshal(text, &reply))
		return reply.Result
	}
	first := call(1, object{})
	require.Equal(t, "input_required", first["resultType"])
	second := call(2, object{
		"requestState":   first["requestState"],
		"inputResponses": object{"user_name": object{"action": "accept", "content": object{"name": "Ada"}}},
	})
	require.NotContains(t, second, "requestState")
	require.Contains(t, fmt.Sprint(second["content"]), "Ada")

	res, err := http.Get("http://" + address + "/.well-known/oauth-protected-resource")
	require.NoError(t, err)
	res.Body.Close()
	require.Equal(t, http.StatusNotFound, res.StatusCode, "the route is there, and the function has no metadata without tokens")
}

// httpAPIAlone returns the built template without the REST API: the emulator
// takes no notice of conditions, and would have that answer at the same paths.
func httpAPIAlone(t *testing.T) string {
	t.Helper()
	built, err := os.ReadFile("../.aws-sam/build/template.yaml")
	require.NoError(t, err)
	rest := regexp.MustCompile(`(?m)^  RestApi(Observability)?Stack:\n(?:    .*\n)+`)
	require.Len(t, rest.FindAll(built, -1), 2)
	file, err := filepath.Abs("../.aws-sam/build/http-api.yaml") // code is found beside it
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, rest.ReplaceAll(built, nil), 0o666))
	t.Cleanup(func() { os.Remove(file) })
	return file
}

// lockedBuffer is a buffer that two goroutines may use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
