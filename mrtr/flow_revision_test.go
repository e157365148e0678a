package mrtr_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// revised is one version of a tool that asks three times.
func revised(t *testing.T, revision string, accept ...string) *flowHost {
	return newFlowHost(t, flowToolOf(mrtr.Tool{Name: "tool", Revision: revision, AcceptRevisions: accept},
		func(_ context.Context, c *mrtr.Call) (string, error) {
			for _, key := range []string{"a", "b", "c"} {
				if _, err := mrtr.Ask[flowForm](c, key, "Name?"); err != nil {
					return "", err
				}
			}
			return "done by " + revision, nil
		}))
}

// A canary: rounds of one flow land on N, N+1 and N again.
func TestFlowRevisions(t *testing.T) {
	play := func(hosts ...*flowHost) flowReply {
		var r flowReply
		for i, h := range hosts {
			answers := flowAnswers{}
			if i > 0 {
				for _, q := range *r.result.Requests {
					answers[q.Key] = flowName("x")
				}
			}
			if r = h.call("tool", r.result.State, answers); r.err != nil {
				require.Equal(t, "revision", h.restarts(r))
				require.Len(t, hosts, i+1)
			}
		}
		return r
	}
	n, next := revised(t, "1", "2"), revised(t, "2", "1")
	r := play(n, next, n, next)
	next.says(r, "done by 2")
	r = play(next, n, n, n)
	n.says(r, "done by 1")

	// Neither accepts the other unless its author says so.
	alone, other := revised(t, "1"), revised(t, "2")
	require.NotNil(t, play(alone, other).err)
	require.NotNil(t, play(other, alone).err)
	// A state is of the revision that sealed it last: N+2 takes N+1's and not
	// N's.
	third := revised(t, "3", "2")
	require.NotNil(t, play(n, third).err)
	third.says(play(n, next, third, third), "done by 3")
	// No revision is one too.
	none := revised(t, "")
	require.NotNil(t, play(none, alone).err)
	alone = revised(t, "1", "")
	alone.says(play(none, alone, alone, alone), "done by 1")
}

func TestFlowRevisionTooLong(t *testing.T) {
	srv := mrtr.NewServer(protocol.Implementation{Name: "s", Version: "1"}, nil)
	require.PanicsWithValue(t, `mrtr: tool "tool": a revision has at most 255 bytes`, func() {
		flowToolOf(mrtr.Tool{Name: "tool", Revision: string(make([]byte, 256))}, nil)(srv)
	})
}
