package lambdahttp

import (
	"fmt"
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"
)

// Mode says how replies are sent. It has to be what the gateway expects.
type Mode string

// The modes.
const (
	ModeBuffered Mode = "buffered" // one JSON reply
	ModeStream   Mode = "stream"   // Function URL with RESPONSE_STREAM, REST integration with STREAM
)

// ParseMode returns the mode of that name. Empty means ModeBuffered.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case "":
		return ModeBuffered, nil
	case ModeBuffered, ModeStream:
		return m, nil
	}
	return "", fmt.Errorf("lambdahttp: unknown response mode %q", s)
}

// Start serves events from the Lambda Runtime API and never returns: when the
// loop fails, the process ends. Programs are built with the tag lambda.norpc, which
// leaves out the loop of a retired runtime. It panics if h is nil or the mode is
// unknown.
func Start(h http.Handler, mode Mode, opts Options, start ...lambda.Option) {
	switch mode {
	case ModeBuffered:
		lambda.StartWithOptions(Handler(h, opts), start...)
	case ModeStream:
		lambda.StartWithOptions(StreamHandler(h, opts), start...)
	default:
		panic(fmt.Sprintf("lambdahttp: unknown response mode %q", string(mode)))
	}
}
