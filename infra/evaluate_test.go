package infra_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// pythonVariable names the Python that has the SAM translator. Without it the
// tests of translated templates are skipped; make sam sets it.
const pythonVariable = "MRTR_SAM_PYTHON"

// object is a JSON object.
type object = map[string]any

// deployment is where and with what templates are deployed.
type deployment struct {
	region     string // empty: eu-central-1
	parameters map[string]string
}

// regions are one of each partition, with its name and the end of its hosts.
var regions = map[string][2]string{
	"eu-central-1":  {"aws", "amazonaws.com"},
	"us-gov-west-1": {"aws-us-gov", "amazonaws.com"},
	"cn-north-1":    {"aws-cn", "amazonaws.com.cn"},
}

// resource is a resource that is made, with all intrinsic functions carried out.
type resource struct {
	kind       string
	properties object
	retained   bool
	needs      map[string]bool // logical ids that have to be there first
}

// stack is what CloudFormation makes of a template: the resources whose
// conditions hold. What is known only after they are made stands as the logical
// id, with the stack's name before it and the attribute behind: "mcp/McpRole.Arn".
type stack struct {
	t         *testing.T
	name      string
	deploy    deployment
	template  object
	resources map[string]*resource
	outputs   map[string]any
	children  map[string]*stack
	broken    []string // descriptions of the rules that do not hold

	values     map[string]any  // parameters and pseudo parameters
	conditions map[string]bool // those that have been worked out
	needs      map[string]bool // of the resource at hand
}

// noValue stands for AWS::NoValue until it is left out.
type noValue struct{}

// deploy evaluates the root template.
func deploy(t *testing.T, d deployment) *stack {
	t.Helper()
	return evaluate(t, "mcp", "../template.yaml", d)
}

func evaluate(t *testing.T, name, template string, d deployment) *stack {
	t.Helper()
	if d.region == "" {
		d.region = "eu-central-1"
	}
	s := &stack{
		t: t, name: name, deploy: d, template: translate(t, template, d),
		resources: map[string]*resource{}, outputs: map[string]any{}, children: map[string]*stack{},
		conditions: map[string]bool{},
	}
	s.values = map[string]any{
		"AWS::Partition": regions[d.region][0], "AWS::URLSuffix": regions[d.region][1],
		"AWS::Region": d.region, "AWS::AccountId": "123456789012", "AWS::StackName": name,
		"AWS::StackId": "stack-id/of/" + name, "AWS::NoValue": noValue{},
	}
	s.readParameters()
	rules, _ := s.template["Rules"].(object)
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		s.checkRule(rules[name].(object))
	}
	for id, r := range s.template["Resources"].(object) {
		s.evaluateResource(id, r.(object))
	}
	s.needs = map[string]bool{}
	outputs, _ := s.template["Outputs"].(object)
	for id, o := range outputs {
		out := o.(object)
		if condition, ok := out["Condition"].(string); !ok || s.condition(condition) {
			s.outputs[id] = s.value(out["Value"])
		}
	}
	return s
}

// readParameters takes the given values and the defaults, as CloudFormation
// checks them.
func (s *stack) readParameters() {
	parameters, _ := s.template["Parameters"].(object)
	for name := range s.deploy.parameters {
		require.Contains(s.t, parameters, name, "%s has no such parameter", s.name)
	}
	for name, p := range parameters {
		declared := p.(object)
		value, given := s.deploy.parameters[name]
		if !given {
			fallback, ok := declared["Default"]
			require.True(s.t, ok, "%s: no value for parameter %s", s.name, name)
			value = fmt.Sprint(fallback)
		}
		if allowed, ok := declared["AllowedValues"].([]any); ok {
			require.True(s.t, slices.ContainsFunc(allowed, func(a any) bool { return fmt.Sprint(a) == value }),
				"%s: %s may not be %q", s.name, name, value)
		}
		if pattern, ok := declared["AllowedPattern"].(string); ok {
			require.Regexp(s.t, regexp.MustCompile(`^(?:`+pattern+`)$`), value, "%s: parameter %s", s.name, name)
		}
		s.values[name] = value
		if declared["Type"] == "CommaDelimitedList" {
			s.values[name] = split(",", value)
		}
	}
}

func (s *stack) checkRule(rule object) {
	if when, ok := rule["RuleCondition"]; ok && !s.truth(when) {
		return
	}
	for _, a := range rule["Assertions"].([]any) {
		if !s.truth(a.(object)["Assert"]) {
			s.broken = append(s.broken, a.(object)["AssertDescription"].(string))
		}
	}
}

func (s *stack) evaluateResource(id string, r object) {
	if condition, ok := r["Condition"].(string); ok && !s.condition(condition) {
		return
	}
	s.needs = map[string]bool{}
	switch on := r["DependsOn"].(type) {
	case string:
		s.needs[on] = true
	case []any:
		for _, id := range on {
			s.needs[id.(string)] = true
		}
	}
	properties, _ := s.value(r["Properties"]).(object)
	if policy, ok := r["UpdatePolicy"]; ok {
		properties["UpdatePolicy"] = s.value(policy)
	}
	s.resources[id] = &resource{kind: r["Type"].(string), properties: properties, retained: r["DeletionPolicy"] == "Retain", needs: s.needs}
	if r["Type"] == "AWS::CloudFormation::Stack" {
		s.child(id)
	}
}

// child evaluates a nested stack, once.
func (s *stack) child(id string) *stack {
	if c, ok := s.children[id]; ok {
		return c
	}
	defer func(needs map[string]bool) { s.needs = needs }(s.needs)
	s.needs = map[string]bool{} // what is found here is counted when the stack itself is evaluated
	r := s.template["Resources"].(object)[id].(object)["Properties"].(object)
	parameters := map[string]string{}
	for name, v := range s.value(r["Parameters"]).(object) {
		switch v := v.(type) {
		case []any:
			s.t.Fatalf("%s/%s: parameter %s is a list", s.name, id, name)
		default:
			parameters[name] = fmt.Sprint(v)
		}
	}
	c := evaluate(s.t, s.name+"/"+id, filepath.Join("..", r["TemplateURL"].(string)), deployment{s.deploy.region, parameters})
	s.children[id] = c
	return c
}

func (s *stack) condition(name string) bool {
	holds, known := s.conditions[name]
	if !known {
		all := s.template["Conditions"].(object)
		require.Contains(s.t, all, name)
		holds = s.truth(all[name])
		s.conditions[name] = holds
	}
	return holds
}

func (s *stack) truth(node any) bool {
	m, ok := node.(object)
	if !ok {
		return fmt.Sprint(node) == "true"
	}
	for name, arg := range m {
		switch name {
		case "Condition":
			return s.condition(arg.(string))
		case "Fn::Not":
			return !s.truth(arg.([]any)[0])
		case "Fn::And":
			return !slices.ContainsFunc(arg.([]any), func(a any) bool { return !s.truth(a) })
		case "Fn::Or":
			return slices.ContainsFunc(arg.([]any), s.truth)
		case "Fn::Equals":
			args := arg.([]any)
			return fmt.Sprint(s.value(args[0])) == fmt.Sprint(s.value(args[1]))
		}
	}
	s.t.Fatalf("%s: no condition: %v", s.name, node)
	return false
}

// value carries out the intrinsic functions in a part of a template.
func (s *stack) value(node any) any {
	switch n := node.(type) {
	case []any:
		out := []any{}
		for _, item := range n {
			if v := s.value(item); v != (noValue{}) {
				out = append(out, v)
			}
		}
		return out
	case object:
		if len(n) == 1 {
			for name, arg := range n {
				if v, ok := s.intrinsic(name, arg); ok {
					return v
				}
			}
		}
		out := object{}
		for k, item := range n {
			if v := s.value(item); v != (noValue{}) {
				out[k] = v
			}
		}
		return out
	}
	return node
}

func (s *stack) intrinsic(name string, arg any) (any, bool) {
	switch name {
	case "Ref":
		return s.ref(arg.(string)), true
	case "Fn::GetAtt":
		path, ok := arg.(string)
		if !ok {
			path = join(".", arg.([]any))
		}
		return s.attribute(path), true
	case "Fn::Sub":
		text, own := "", object{}
		switch a := arg.(type) {
		case string:
			text = a
		case []any:
			text, own = a[0].(string), s.value(a[1]).(object)
		}
		return placeholder.ReplaceAllStringFunc(text, func(p string) string {
			name := p[2 : len(p)-1]
			if v, ok := own[name]; ok {
				return fmt.Sprint(v)
			}
			if strings.Contains(name, ".") {
				return fmt.Sprint(s.attribute(name))
			}
			return fmt.Sprint(s.ref(name))
		}), true
	case "Fn::Join":
		args := s.value(arg).([]any)
		return join(args[0].(string), args[1].([]any)), true
	case "Fn::Split":
		args := s.value(arg).([]any)
		return split(args[0].(string), args[1].(string)), true
	case "Fn::Select":
		args := s.value(arg).([]any)
		var i int
		fmt.Sscan(fmt.Sprint(args[0]), &i)
		return args[1].([]any)[i], true
	case "Fn::If":
		args := arg.([]any)
		if s.condition(args[0].(string)) {
			return s.value(args[1]), true
		}
		return s.value(args[2]), true
	case "Fn::FindInMap":
		args := s.value(arg).([]any)
		row := s.template["Mappings"].(object)[args[0].(string)].(object)[fmt.Sprint(args[1])].(object)
		require.Contains(s.t, row, fmt.Sprint(args[2]))
		return row[fmt.Sprint(args[2])], true
	}
	require.False(s.t, strings.HasPrefix(name, "Fn::"), "%s: unknown function %s", s.name, name)
	return nil, false
}

var placeholder = regexp.MustCompile(`\$\{[A-Za-z0-9:.]+\}`)

func (s *stack) ref(name string) any {
	if v, ok := s.values[name]; ok {
		return v
	}
	s.mustBeMade(name)
	return s.name + "/" + name
}

func (s *stack) attribute(path string) any {
	id, attribute, _ := strings.Cut(path, ".")
	s.mustBeMade(id)
	if output, ok := strings.CutPrefix(attribute, "Outputs."); ok {
		c := s.child(id)
		require.Contains(s.t, c.outputs, output, "of %s", c.name)
		return c.outputs[output]
	}
	// What other templates take as an ARN has to look like one.
	switch s.template["Resources"].(object)[id].(object)["Type"] {
	case "AWS::IAM::Role":
		return fmt.Sprintf("arn:%s:iam::123456789012:role/%s", s.values["AWS::Partition"], id)
	case "AWS::KMS::Key":
		return fmt.Sprintf("arn:%s:kms:%s:123456789012:key/%s", s.values["AWS::Partition"], s.deploy.region, id)
	}
	return s.name + "/" + path
}

// mustBeMade fails when something names a resource that does not exist, or not
// under the conditions at hand.
func (s *stack) mustBeMade(id string) {
	r, ok := s.template["Resources"].(object)[id].(object)
	require.True(s.t, ok, "%s has no resource %s", s.name, id)
	if condition, ok := r["Condition"].(string); ok {
		require.True(s.t, s.condition(condition), "%s: %s is named but not made", s.name, id)
	}
	s.needs[id] = true
}

// before reports whether one resource is always made before another.
func (s *stack) before(first, then string) bool {
	for id := range s.resources[then].needs {
		if id == first || s.before(first, id) {
			return true
		}
	}
	return false
}

// of returns the resources of a type, nested stacks included, by their path.
func (s *stack) of(kind string) map[string]*resource {
	out := map[string]*resource{}
	for id, r := range s.resources {
		if r.kind == kind {
			out[s.name+"/"+id] = r
		}
	}
	for _, c := range s.children {
		maps.Copy(out, c.of(kind))
	}
	return out
}

// translator is the process that translates, one template at a time.
type translator struct {
	mu  sync.Mutex
	in  io.Writer
	out *json.Decoder
}

var startTranslator = sync.OnceValues(func() (*translator, error) {
	cmd := exec.Command(os.Getenv(pythonVariable), "testdata/translate.py") // ends with this process, its input
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &translator{in: in, out: json.NewDecoder(out)}, cmd.Start()
})

// translate returns a template as CloudFormation's transform makes it.
func translate(t *testing.T, template string, d deployment) object {
	t.Helper()
	if os.Getenv(pythonVariable) == "" {
		t.Skipf("%s is not set; make sam sets it", pythonVariable)
	}
	text, err := os.ReadFile(template)
	require.NoError(t, err)
	tr, err := startTranslator()
	require.NoError(t, err)
	tr.mu.Lock()
	defer tr.mu.Unlock()
	require.NoError(t, json.NewEncoder(tr.in).Encode(object{"template": string(text), "region": d.region, "parameters": d.parameters}))
	var out object
	require.NoError(t, tr.out.Decode(&out))
	require.NotContains(t, out, "error", "translating %s", template)
	return out
}

func join(separator string, items []any) string {
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = fmt.Sprint(item)
	}
	return strings.Join(parts, separator)
}

func split(separator, text string) []any {
	out := []any{}
	for part := range strings.SplitSeq(text, separator) {
		out = append(out, part)
	}
	return out
}
