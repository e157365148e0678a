package mrtr_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// play makes a call, answers its questions, and prints each round.
func play(srv *mrtr.Server, call mrtrtest.Call) *mrtrtest.Played {
	played := mrtrtest.Play(exampleTB{}, mrtrtest.Local(srv), call)
	for i, round := range played.Rounds {
		fmt.Printf("round %d: ", i+1)
		switch {
		case i+1 < len(played.Rounds):
			var asked []string
			for _, q := range round.Asked {
				var p struct {
					Message string `json:"message"`
				}
				if json.Unmarshal(q.Params, &p) == nil && p.Message != "" {
					asked = append(asked, p.Message)
				} else {
					asked = append(asked, q.Method)
				}
			}
			if asked == nil {
				asked = []string{"(nothing, come again)"}
			}
			fmt.Println(strings.Join(asked, " "))
		case played.Result == nil:
			fmt.Println(played.Error.Message)
		case played.Result.StructuredContent != nil:
			fmt.Println(string(played.Result.StructuredContent))
		default:
			fmt.Println(played.Text())
		}
	}
	return played
}

// shop returns a server without tools.
func shop() *mrtr.Server {
	return mrtr.NewServer(protocol.Implementation{Name: "shop", Version: "1.0.0"}, nil)
}

// exampleTB is the test that an example has not.
type exampleTB struct{ testing.TB }

func (exampleTB) Helper() {}

func (exampleTB) Logf(string, ...any) {}

func (exampleTB) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
