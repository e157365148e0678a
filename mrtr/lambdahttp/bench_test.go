package lambdahttp_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp"
)

// trivial reads the body and answers 200 bytes of JSON.
var trivial = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer)
})

var answer = []byte(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"Hello, Alice! It is a fine day, and this text is as long as it takes to fill two hundred bytes or so."}]}}`)

func BenchmarkInvoke(b *testing.B) {
	for _, name := range []string{"httpapi-2kb.json", "rest-2kb.json"} {
		payload, err := os.ReadFile("testdata/bench/" + name)
		require.NoError(b, err)
		ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
		defer cancel()
		b.Run("buffered/"+name, func(b *testing.B) {
			bench(b, ctx, lambdahttp.Handler(trivial, lambdahttp.Options{}), payload)
		})
		b.Run("stream/"+name, func(b *testing.B) {
			bench(b, ctx, lambda.NewHandler(lambdahttp.StreamHandler(trivial, lambdahttp.Options{})), payload)
		})
	}
}

func bench(b *testing.B, ctx context.Context, h lambda.Handler, payload []byte) {
	b.ReportAllocs()
	b.SetBytes(int64(len(payload)))
	for b.Loop() {
		if _, err := h.Invoke(ctx, payload); err != nil {
			b.Fatal(err)
		}
	}
}
