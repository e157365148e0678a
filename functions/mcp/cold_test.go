package main_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
)

// alias names the key of every flow here, unless its environment says otherwise.
const alias = "alias/state"

// world is a deployment: a fake KMS with two keys, and a new process for each
// request. It stands as an http.Handler in front of them.
type world struct {
	t    *testing.T
	kms  *kmstest.Server
	key  *kmstest.Key // behind alias at first
	next *kmstest.Key

	binary string
	env    []string        // of every process, beside the KMS settings
	now    string          // TEST_NOW
	warm   *lambdatest.API // serves in place of a new process; nil: none
	old    *lambdatest.API // an instance kept for later

	served []served
}

// served is one request that went through.
type served struct {
	status  int
	header  http.Header
	body    string
	calls   []kmstest.Call // that the process made for it, its start included
	log     record
	started []record // the process wrote before, while it started
	handled bool     // a handler ran; only testdata/rounds tells
}

// record is a log line, that of a request in the main.
type record struct {
	Level   string `json:"level"`
	Message string `json:"msg"`
	Target  string `json:"target"`
	Flow    string `json:"flow"`
	Round   int    `json:"round"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason"`
	Error   string `json:"error"`
	Status  int    `json:"status"`
	Code    int    `json:"code"`
	Keys    int    `json:"keyCalls"`
}

func newWorld(t *testing.T) *world {
	fake := kmstest.NewServer(kmstest.Options{})
	t.Cleanup(fake.Close)
	w := &world{
		t: t, kms: fake, binary: rounds, now: "2026-08-17T10:01:00Z",
		key: fake.CreateKey(kmstest.KeyOptions{}), next: fake.CreateKey(kmstest.KeyOptions{}),
	}
	fake.SetAlias(alias, w.key)
	return w
}

// start returns an API whose processes have the world's environment as it is
// now.
func (w *world) start(fresh bool) *lambdatest.API {
	w.t.Helper()
	env := append(w.kms.Env(), "MRTR_KMS_KEY_ID="+alias, "MRTR_AUDIENCE=cold", "TEST_NOW="+w.now)
	api, err := lambdatest.Start(w.t.Context(), lambdatest.Options{Bootstrap: w.binary, Env: append(env, w.env...), Fresh: fresh})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { api.Close() })
	return api
}

// ServeHTTP hands a request to a process as an HTTP API would.
func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	t := w.t
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	event, err := lambdatest.Event(lambdatest.HTTPAPI, r, body)
	require.NoError(t, err)
	api, before := w.warm, w.kms.Count()
	if api == nil {
		api = w.start(true)
	}
	res, err := api.Invoke(t.Context(), event)
	require.NoError(t, err)
	require.Nil(t, res.FunctionError)
	require.True(t, res.Cold || w.warm != nil, "a new process that is not new")
	reply, err := res.Reply()
	require.NoError(t, err)

	s := served{status: reply.Status, header: reply.Header, body: string(reply.Body), calls: w.kms.Calls()[before:]}
	metrics := 0
	for line := range strings.Lines(res.Logs) {
		switch {
		case line == "handler runs\n":
			s.handled = true
			continue
		case strings.HasPrefix(line, `{"_aws":`):
			metrics++
			continue
		}
		var rec record
		require.NoError(t, json.Unmarshal([]byte(line), &rec), "a log line that is no JSON: %s", line)
		if rec.Message == "mcp request" {
			require.Empty(t, s.log, "two log lines for one request")
			s.log = rec
		} else {
			s.started = append(s.started, rec)
		}
	}
	require.Equal(t, reply.Status, s.log.Status)
	require.Equal(t, 1, metrics, "lines of metrics for one request")
	discreet(t, res.Logs, string(body), s.body)
	w.served = append(w.served, s)

	for name, values := range reply.Header {
		rw.Header()[name] = values
	}
	rw.WriteHeader(reply.Status)
	_, _ = rw.Write(reply.Body)
}

// discreet fails where logs hold a state, an answer or an argument.
func discreet(t *testing.T, logs string, bodies ...string) {
	t.Helper()
	for _, secret := range []string{"Alice", "blue", "Vienna", "not-a-secret"} {
		require.NotContains(t, logs, secret)
	}
	for _, body := range bodies {
		for _, m := range stateMember.FindAllStringSubmatch(body, -1) {
			require.NotContains(t, logs, m[1][:min(24, len(m[1]))])
		}
	}
}

func (w *world) last() served { return w.served[len(w.served)-1] }

// Tools of the contract.
const (
	elicitation = "test_tool_with_elicitation"
	multiRound  = "test_incomplete_result_multi_round"
)

// play plays the two-question flow. before, where it is not nil, runs before
// each round and may change the world and the request.
func (w *world) play(before func(round int, r *mrtrtest.Request)) *mrtrtest.Played {
	return mrtrtest.Play(w.t, mrtrtest.Handler(w), mrtrtest.Call{
		Name:      multiRound,
		Arguments: map[string]any{"city": "Vienna"},
		Answers: mrtrtest.Answers{
			"step1": map[string]any{"name": "Alice"},
			"step2": map[string]any{"color": "blue"},
		},
		Edit: func(round int, r *mrtrtest.Request) {
			r.ID = "x" // so that all refusals are the same bytes
			if before != nil {
				before(round, r)
			}
		},
	})
}

const greeting = "Hi Alice, your favorite color is blue."

// requireDone checks a flow that has come to its end, and how many calls to KMS
// the processes of its rounds made.
func (w *world) requireDone(played *mrtrtest.Played, calls ...int) {
	t := w.t
	t.Helper()
	require.Equal(t, greeting, played.Text())
	require.Len(t, w.served, 3)
	for i, s := range w.served {
		require.Len(t, s.calls, calls[i], "round %d", i+1)
		for _, c := range s.calls {
			require.Equal(t, "GenerateMac", c.Operation)
			require.Equal(t, "HMAC_SHA_256", c.Algorithm)
			require.Empty(t, c.Error)
		}
		require.Equal(t, i+1, s.log.Round)
		require.Equal(t, multiRound, s.log.Target)
		require.Equal(t, w.served[0].log.Flow, s.log.Flow)
		require.Empty(t, s.log.Reason)
	}
	require.Regexp(t, "^[0-9a-f]{32}$", w.served[0].log.Flow)
	require.Equal(t, []string{"input_required", "input_required", "complete"},
		[]string{w.served[0].log.Outcome, w.served[1].log.Outcome, w.served[2].log.Outcome})
}

// TestColdRounds plays a flow with the real binary, a new process for each
// round.
func TestColdRounds(t *testing.T) {
	needContract(t)
	const epoch = 15 * time.Minute
	for {
		w := newWorld(t)
		w.binary = bootstrap
		began := time.Now().Truncate(epoch)
		played := w.play(nil)
		if time.Now().Truncate(epoch).After(began) {
			require.Equal(t, greeting, played.Text())
			continue // the number of calls holds within an epoch: once more
		}
		w.requireDone(played, 1, 1, 1)
		return
	}
}

// TestColdRoundsChange plays a flow, a new process for each round, while its
// surroundings change between the rounds.
func TestColdRoundsChange(t *testing.T) {
	times := func(round int, at ...string) string { return "2026-08-17T" + at[round-1] + "Z" }
	for _, tt := range []struct {
		name   string
		before func(w *world, round int)
		calls  [3]int // to KMS by the process of each round
	}{{
		name:   "nothing",
		before: func(*world, int) {},
		calls:  [3]int{1, 1, 1},
	}, {
		name: "an epoch ends after each round",
		before: func(w *world, round int) {
			w.now = times(round, "10:14:59", "10:15:00", "10:15:30")
		},
		calls: [3]int{1, 2, 1}, // the new epoch's to seal, the old one's to open
	}, {
		name: "an epoch ends, and cryptography is FIPS 140-3 alone",
		before: func(w *world, round int) {
			w.env = []string{"GODEBUG=fips140=only"}
			w.now = times(round, "10:14:00", "10:23:59", "10:30:01")
		},
		calls: [3]int{1, 2, 2},
	}, {
		name: "clocks differ by the skew over an epoch's end",
		before: func(w *world, round int) {
			w.now = times(round, "10:15:30", "10:14:45", "10:14:45")
		},
		calls: [3]int{1, 2, 1},
	}, {
		name: "the key is rotated, the previous one accepted",
		before: func(w *world, round int) {
			if round == 2 {
				w.kms.SetAlias(alias, w.next)
				w.env = []string{"MRTR_KMS_ACCEPT_KEY_IDS=" + w.key.ARN}
			}
		},
		calls: [3]int{1, 2, 1},
	}, {
		name: "the key is rotated by configuration, the previous one accepted by id",
		before: func(w *world, round int) {
			w.env = []string{"MRTR_KMS_KEY_ID=" + w.key.ARN}
			if round > 1 {
				w.env = []string{"MRTR_KMS_KEY_ID=" + w.next.ID, "MRTR_KMS_ACCEPT_KEY_IDS= " + w.key.ID + " ,"}
			}
		},
		calls: [3]int{1, 2, 1},
	}, {
		name: "the alias moved while an instance knows the key before it, the next one accepted",
		before: func(w *world, round int) {
			w.env = []string{"MRTR_KMS_ACCEPT_KEY_IDS=" + w.key.ARN + "," + w.next.ARN}
			switch round {
			case 1: // sealed by an instance that came after the move
				w.old = w.start(false)
				w.kms.SetAlias(alias, w.next)
			case 2:
				w.warm = w.old
			default:
				w.warm = nil
			}
		},
		calls: [3]int{1, 1, 2},
	}, {
		name: "the alias moved while an instance knows the key before it, and it asks",
		before: func(w *world, round int) {
			switch round {
			case 1:
				w.old = w.start(false)
				w.kms.SetAlias(alias, w.next)
			case 2:
				w.warm = w.old
			default:
				w.warm = nil
			}
		},
		calls: [3]int{1, 1, 1}, // the call that asks also gives the secret
	}, {
		name:   "nothing, in strict mode",
		before: func(w *world, _ int) { w.env = []string{"MRTR_KMS_MODE=strict"} },
		calls:  [3]int{1, 2, 1}, // one for each seal and each open
	}, {
		name: "the mode, both accepted",
		before: func(w *world, round int) {
			w.env = []string{"MRTR_KMS_MODE=derived"}
			if round > 1 {
				w.env = []string{"MRTR_KMS_MODE=strict,derived"}
			}
		},
		calls: [3]int{1, 2, 1},
	}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			played := w.play(func(round int, _ *mrtrtest.Request) { tt.before(w, round) })
			w.requireDone(played, tt.calls[:]...)
		})
	}
}
