package awslambda

import (
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// document is a line of the embedded metric format in the making. Its names,
// units and numbers need no escaping.
type document struct {
	b         []byte
	values    []byte // the metrics as members of the root
	namespace string
	open      bool // a directive is
	metrics   int  // of the open directive
}

func newDocument(namespace string, at time.Time) *document {
	d := &document{b: make([]byte, 0, 1280), values: make([]byte, 0, 192), namespace: namespace}
	d.b = append(d.b, `{"_aws":{"Timestamp":`...)
	d.b = strconv.AppendInt(d.b, at.UnixMilli(), 10)
	d.b = append(d.b, `,"CloudWatchMetrics":[`...)
	return d
}

// directive begins metrics with these dimensions.
func (d *document) directive(dimensions ...string) {
	if d.open {
		d.b = append(d.b, `]},`...)
	}
	d.open, d.metrics = true, 0
	d.b = append(d.b, `{"Namespace":"`...)
	d.b = append(d.b, d.namespace...)
	d.b = append(d.b, `","Dimensions":[[`...)
	for i, name := range dimensions {
		if i > 0 {
			d.b = append(d.b, ',')
		}
		d.b = append(append(append(d.b, '"'), name...), '"')
	}
	d.b = append(d.b, `]],"Metrics":[`...)
}

// metric adds one. An empty value is for one that an earlier directive has.
func (d *document) metric(name, unit, value string) {
	if d.metrics++; d.metrics > 1 {
		d.b = append(d.b, ',')
	}
	d.b = append(append(d.b, `{"Name":"`...), name...)
	d.b = append(append(d.b, `","Unit":"`...), unit...)
	d.b = append(d.b, `"}`...)
	if value != "" {
		d.values = append(append(d.values, `,"`...), name...)
		d.values = append(append(d.values, `":`...), value...)
	}
}

// end closes the document and returns the line. dimensions are names and values
// in turn; empty values are left out.
func (d *document) end(dimensions ...string) []byte {
	d.b = append(d.b, `]}]}`...)
	for i := 0; i < len(dimensions); i += 2 {
		if value := dimensions[i+1]; value != "" {
			d.b = append(append(append(d.b, `,"`...), dimensions[i]...), `":`...)
			d.b, _ = jsontext.AppendQuote(d.b, value) // ASCII: see dimension
		}
	}
	return append(append(d.b, d.values...), "}\n"...)
}

// maxDimension is the length of a dimension's value that every part of
// CloudWatch takes.
const maxDimension = 255

// dimension returns a registered name as a dimension's value: CloudWatch takes
// printable ASCII that is not blank. Empty stays empty.
func dimension(name string) string {
	name = name[:min(len(name), maxDimension)]
	value := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
	if value != "" && strings.TrimSpace(value) == "" {
		return "?"
	}
	return value
}

func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', -1, 64)
}

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
