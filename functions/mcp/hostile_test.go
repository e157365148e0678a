package main_test

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
)

// refusedBody is all that a client learns of any state that is not accepted.
const refusedBody = `{"jsonrpc":"2.0","id":"x","error":{"code":-32602,` +
	`"message":"Invalid params: this requestState cannot be continued; start the call again without it","data":{"restart":true}}}`

// principal names the caller of a request to testdata/rounds.
func principal(r *mrtrtest.Request, subject string) { r.Header.Set("X-Test-Principal", subject) }

// state is the request's state.
func state(r *mrtrtest.Request) string { return r.Params["requestState"].(string) }

// editState changes the request's state as bytes.
func editState(r *mrtrtest.Request, edit func(b []byte) []byte) {
	b, err := base64.RawURLEncoding.DecodeString(state(r))
	if err != nil {
		panic(err)
	}
	r.Params["requestState"] = base64.RawURLEncoding.EncodeToString(edit(b))
}

// flip changes one bit of one byte of the state.
func flip(at int) func(*mrtrtest.Request) {
	return func(r *mrtrtest.Request) {
		editState(r, func(b []byte) []byte {
			b[(at+len(b))%len(b)] ^= 1
			return b
		})
	}
}

// moveEpoch changes the state's epoch start.
func moveEpoch(by time.Duration) func(*mrtrtest.Request) {
	return func(r *mrtrtest.Request) {
		editState(r, func(b []byte) []byte {
			start := binary.BigEndian.Uint32(b[10:14])
			binary.BigEndian.PutUint32(b[10:14], start+uint32(int32(by/time.Minute)))
			return b
		})
	}
}

// TestHostileStates plays a flow, a new process for each round, whose last
// round is not what the state was sealed for.
func TestHostileStates(t *testing.T) {
	for _, tt := range []struct {
		name   string
		env    []string
		times  []string // of the rounds; nil: all at one time
		rounds int      // the last one is refused; zero: 2
		edit   func(w *world, round int, r *mrtrtest.Request)
		last   func(r *mrtrtest.Request) // edits the last round
		reason string
		calls  int // to KMS in the last round, beside the one of the start
	}{
		{name: "another tool", reason: "target", last: func(r *mrtrtest.Request) {
			r.Params["name"] = elicitation
			r.Header.Set("Mcp-Name", elicitation)
		}},
		{name: "other arguments", reason: "arguments", last: func(r *mrtrtest.Request) {
			r.Params["arguments"] = map[string]any{"city": "Graz"}
		}},
		{name: "an argument more", reason: "arguments", last: func(r *mrtrtest.Request) {
			r.Params["arguments"] = map[string]any{"city": "Vienna", "zip": 1010}
		}},
		{name: "no arguments", reason: "arguments", last: func(r *mrtrtest.Request) { delete(r.Params, "arguments") }},
		{name: "other arguments in round 3", rounds: 3, reason: "arguments", last: func(r *mrtrtest.Request) {
			r.Params["arguments"] = map[string]any{"city": "Graz"}
		}},

		{name: "another caller", reason: "principal", edit: func(_ *world, round int, r *mrtrtest.Request) {
			principal(r, [...]string{"ann", "bob"}[round-1])
		}},
		{name: "no caller any more", reason: "principal_absent", edit: func(_ *world, round int, r *mrtrtest.Request) {
			principal(r, [...]string{"ann", ""}[round-1])
		}},
		{name: "a caller at last", reason: "principal_gained", last: func(r *mrtrtest.Request) { principal(r, "ann") }},

		{name: "a flipped bit in the version", reason: "unknown_version", last: flip(0)},
		{name: "a flipped bit in the purpose", reason: "wrong_purpose", last: flip(1)},
		{name: "a flipped bit in the salt", reason: "forged", last: flip(14)},
		{name: "a flipped bit in the nonce", reason: "forged", last: flip(34)},
		{name: "a flipped bit in the ciphertext", reason: "forged", last: flip(46)},
		{name: "a flipped bit in the tag", reason: "forged", last: flip(-1)},
		{name: "a flipped character", reason: "forged", last: func(r *mrtrtest.Request) {
			b := []byte(state(r))
			if b[len(b)/2]++; b[len(b)/2] == 'z'+1 || b[len(b)/2] == 'Z'+1 || b[len(b)/2] == '9'+1 || b[len(b)/2] == '-'+1 || b[len(b)/2] == '_'+1 {
				b[len(b)/2] = 'A'
			}
			r.Params["requestState"] = string(b)
		}},
		{name: "a character that is none", reason: "malformed", last: func(r *mrtrtest.Request) {
			r.Params["requestState"] = "+" + state(r)[1:]
		}},
		{name: "a line break at the end", reason: "malformed", last: func(r *mrtrtest.Request) {
			r.Params["requestState"] = state(r) + "\n"
		}},
		{name: "cut", reason: "forged", last: func(r *mrtrtest.Request) {
			editState(r, func(b []byte) []byte { return b[:len(b)-1] })
		}},
		{name: "too long", env: []string{"MRTR_MAX_STATE_BYTES=1024"}, reason: "too_long", last: func(r *mrtrtest.Request) {
			editState(r, func(b []byte) []byte { return append(b, make([]byte, 1024)...) })
		}},

		{name: "the round has expired", times: []string{"10:01:00", "10:11:00"}, reason: "round_expired"},
		{name: "a short round has expired", env: []string{"MRTR_ROUND_TTL=5s"}, times: []string{"10:01:00", "10:01:05"}, reason: "round_expired"},
		{name: "the flow has expired", env: []string{"MRTR_FLOW_TTL=14m"}, rounds: 3,
			times: []string{"10:00:30", "10:09:30", "10:14:30"}, reason: "flow_expired"},
		{name: "issued in the future", times: []string{"10:03:01", "10:02:00"}, reason: "issued_ahead"},

		{name: "an epoch off the grid", reason: "epoch_off_grid", last: moveEpoch(time.Minute)},
		{name: "an epoch long past", reason: "epoch_too_old", last: moveEpoch(-30 * time.Minute)},
		{name: "an epoch to come", reason: "epoch_ahead", last: moveEpoch(15 * time.Minute)},
		{name: "the first epoch of all", reason: "epoch_too_old", last: func(r *mrtrtest.Request) {
			editState(r, func(b []byte) []byte { clear(b[10:14]); return b })
		}},
		{name: "the last epoch of all", reason: "epoch_ahead", last: func(r *mrtrtest.Request) {
			editState(r, func(b []byte) []byte { copy(b[10:14], "\xff\xff\xff\xff"); return b })
		}},
		{name: "another epoch that is open", reason: "forged", last: moveEpoch(-15 * time.Minute), calls: 1},
		{name: "expired with its epoch", times: []string{"10:01:00", "10:26:00"}, reason: "epoch_too_old"},

		{name: "a static key's mode", reason: "unknown_mode", last: func(r *mrtrtest.Request) {
			editState(r, func(b []byte) []byte { b[1] = 0x11; return b })
		}},
		{name: "strict mode is not accepted any more", reason: "unknown_mode", edit: func(w *world, round int, _ *mrtrtest.Request) {
			w.env = [][]string{{"MRTR_KMS_MODE=strict"}, {"MRTR_KMS_MODE=derived"}}[round-1]
		}},
		{name: "an unknown key, under an alias", reason: "unknown_key", last: flip(2), calls: 1},
		{name: "an unknown key, under none", reason: "unknown_key", last: flip(2), edit: func(w *world, _ int, _ *mrtrtest.Request) {
			w.env = []string{"MRTR_KMS_KEY_ID=" + w.key.ARN}
		}},
		{name: "the key was rotated and is not accepted any more", reason: "unknown_key", calls: 1, edit: func(w *world, round int, _ *mrtrtest.Request) {
			if round == 2 {
				w.kms.SetAlias(alias, w.next)
			}
		}},
		{name: "another deployment under the same key", reason: "forged", edit: func(w *world, round int, _ *mrtrtest.Request) {
			w.env = [][]string{nil, {"MRTR_AUDIENCE=other"}}[round-1]
		}},
		{name: "another deployment under the same key, in strict mode", reason: "forged", edit: func(w *world, round int, _ *mrtrtest.Request) {
			w.env = [][]string{{"MRTR_KMS_MODE=strict"}, {"MRTR_KMS_MODE=strict", "MRTR_AUDIENCE=other"}}[round-1]
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			last := max(tt.rounds, 2)
			w := newWorld(t)
			w.env = tt.env
			played := w.play(func(round int, r *mrtrtest.Request) {
				require.LessOrEqual(t, round, last, "the flow goes on")
				if tt.times != nil {
					w.now = "2026-08-17T" + tt.times[round-1] + "Z"
				}
				if tt.edit != nil {
					tt.edit(w, round, r)
				}
				if tt.last != nil && round == last {
					tt.last(r)
				}
			})
			require.Len(t, played.Rounds, last)
			require.NotNil(t, played.Error)
			for _, s := range w.served[:last-1] {
				require.Equal(t, 200, s.status)
				require.True(t, s.handled)
			}

			s := w.last()
			require.Equal(t, 400, s.status)
			require.Equal(t, refusedBody, s.body)
			require.Equal(t, map[string][]string{"Content-Type": {"application/json"}}, map[string][]string(s.header))
			require.Equal(t, tt.reason, s.log.Reason)
			require.Equal(t, "refused", s.log.Outcome)
			require.Equal(t, "WARN", s.log.Level)
			require.Equal(t, -32602, s.log.Code)
			require.False(t, s.handled, "the handler ran")

			start := 1
			if len(w.env) > 0 && w.env[0] == "MRTR_KMS_MODE=strict" {
				start = 0
				tt.calls = 1 // the token's own
			}
			require.Len(t, s.calls, start+tt.calls)
		})
	}
}

// TestNoCalls sends states to one warm instance that it must refuse without
// asking KMS, over and over, and then some that may cost one call in all.
func TestNoCalls(t *testing.T) {
	w := newWorld(t)
	w.warm = w.start(false)
	refuse := func(reason string, edit func(*mrtrtest.Request)) {
		t.Helper()
		played := w.play(func(round int, r *mrtrtest.Request) {
			if round == 2 {
				edit(r)
			}
		})
		require.Len(t, played.Rounds, 2)
		require.Equal(t, refusedBody, w.last().body)
		require.Equal(t, reason, w.last().log.Reason)
		require.Equal(t, w.last().log.Keys, len(w.last().calls))
	}
	started := w.kms.Count()
	require.Equal(t, 1, started)
	for range 3 {
		refuse("epoch_off_grid", moveEpoch(time.Minute))
		refuse("epoch_too_old", moveEpoch(-30*time.Minute))
		refuse("epoch_ahead", moveEpoch(15*time.Minute))
		refuse("unknown_mode", func(r *mrtrtest.Request) {
			editState(r, func(b []byte) []byte { b[1] = 0x31; return b })
		})
		refuse("unknown_key", func(r *mrtrtest.Request) { // an epoch that is not open at that
			flip(2)(r)
			moveEpoch(-30 * time.Minute)(r)
		})
		refuse("forged", flip(20))
	}
	require.Equal(t, started, w.kms.Count())

	// Which key is it? One call a minute answers for all.
	for i := range 8 {
		refuse("unknown_key", flip(2+i))
	}
	calls := w.kms.Calls()[started:]
	require.Len(t, calls, 1)
	require.Equal(t, alias, calls[0].KeyID)

	// The open epochs cost one call each, however often they are named.
	for range 3 {
		refuse("forged", moveEpoch(-15*time.Minute))
	}
	require.Len(t, w.kms.Calls(), started+2)

	w.served = nil
	w.requireDone(w.play(nil), 0, 0, 0)
}

// TestKeyServiceTrouble lets KMS fail between the rounds: that is the server's
// trouble and never called a bad state.
func TestKeyServiceTrouble(t *testing.T) {
	const unavailableBody = `{"jsonrpc":"2.0","id":"x","error":{"code":-32603,"message":"The service is temporarily unavailable"}}`
	for _, tt := range []struct {
		name   string
		breaks func(w *world)
		mends  func(w *world)
		kind   string // as the log has it
	}{
		{"disabled", func(w *world) { w.key.SetState(kmstest.Disabled) }, func(w *world) { w.key.SetState(kmstest.Enabled) }, `disabled: "DisabledException"`},
		{"pending deletion", func(w *world) { w.key.SetState(kmstest.PendingDeletion) }, func(w *world) { w.key.SetState(kmstest.Enabled) }, `invalid_state: "KMSInvalidStateException"`},
		{"denied", func(w *world) { w.key.SetState(kmstest.Denied) }, func(w *world) { w.key.SetState(kmstest.Enabled) }, `denied: "AccessDeniedException"`},
		{"no alias", func(w *world) { w.kms.DeleteAlias(alias) }, func(w *world) { w.kms.SetAlias(alias, w.key) }, `not_found: "NotFoundException"`},
		{"another spec", func(w *world) { w.kms.SetAlias(alias, w.kms.CreateKey(kmstest.KeyOptions{Spec: kmstest.HMAC512})) },
			func(w *world) { w.kms.SetAlias(alias, w.key) }, `wrong_key (the key must be of spec HMAC_256): "InvalidKeyUsageException"`},
		{"throttled", func(w *world) { w.kms.Throttle(100) }, func(w *world) { w.kms.Reset() }, `throttled: "ThrottlingException"`},
		{"failing", func(w *world) { w.kms.Fail(100, 500, "KMSInternalException") }, func(w *world) { w.kms.Reset() }, `internal: "KMSInternalException"`},
		{"gone", func(w *world) { w.kms.SetOutage(true) }, func(w *world) { w.kms.SetOutage(false) }, `unreachable`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var states []string
			played := w.play(func(round int, r *mrtrtest.Request) {
				if round == 2 {
					tt.breaks(w)
					w.warm = w.start(false) // comes up all the same
					states = append(states, state(r))
				}
			})
			require.Len(t, played.Rounds, 2)
			s := w.last()
			require.Equal(t, 503, s.status)
			require.Equal(t, unavailableBody, s.body)
			require.NotEmpty(t, s.header.Get("Retry-After"))
			require.Equal(t, "keys_unavailable", s.log.Reason)
			require.Contains(t, s.log.Error, "kmskeys: generating a MAC: "+tt.kind)
			require.Len(t, s.started, 1)
			require.Equal(t, "the key service did not answer during start", s.started[0].Message)
			if !strings.Contains(s.started[0].Error, "context deadline exceeded") { // the start waits for a while only
				require.Contains(t, s.started[0].Error, tt.kind)
			}
			require.Equal(t, "error", s.log.Outcome)
			require.Equal(t, "ERROR", s.log.Level)
			require.False(t, s.handled)

			// Until a second has passed, nobody has KMS asked again. Then the same
			// instance serves the same state, if KMS is back.
			again := func(_ int, r *mrtrtest.Request) { r.Params["requestState"] = states[0] }
			w.play(again) // the one before may have waited for the start's call, which is not held against anyone
			asked := w.kms.Count()
			w.play(again)
			require.Equal(t, 503, w.last().status)
			require.Contains(t, w.last().log.Error, "kmskeys: generating a MAC: "+tt.kind)
			require.Zero(t, w.last().log.Keys)
			require.Equal(t, asked, w.kms.Count())
			tt.mends(w)
			played = w.play(func(round int, r *mrtrtest.Request) {
				if round == 1 {
					r.Header.Set("X-Test-Later", "1s")
					r.Params["requestState"] = states[0]
					r.Params["inputResponses"] = map[string]any{"step1": map[string]any{"action": "accept", "content": map[string]any{"name": "Alice"}}}
				}
			})
			require.Equal(t, greeting, played.Text())
			require.Len(t, played.Rounds, 2)
		})
	}
}
