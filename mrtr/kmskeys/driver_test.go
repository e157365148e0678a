package kmskeys

import (
	"context"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

const (
	tool    = requeststate.PurposeTool
	session = requeststate.PurposeSession
)

// Both drivers, over every way to name the key, do what any Keys must.
func TestDrivers(t *testing.T) {
	names := map[string]func(*world) string{
		"id":        func(w *world) string { return w.key.ID },
		"ARN":       func(w *world) string { return w.key.ARN },
		"alias":     func(*world) string { return alias },
		"alias ARN": func(w *world) string { return w.AliasARN(alias) },
	}
	for _, mode := range []requeststate.Mode{derived, strict} {
		for name, keyID := range names {
			t.Run(mode.String()+" "+name, func(t *testing.T) {
				w := newWorld(t)
				opts := Options{KeyID: keyID(w), Modes: []requeststate.Mode{mode}}
				a := w.instance(t, opts)

				for p := tool; p <= session; p++ {
					token := w.seal(t, a, p)
					h, _, err := requeststate.ParseHeader(token)
					require.NoError(t, err)
					require.Equal(t, mode, h.Mode)
					require.Equal(t, fingerprintOf(w.key.ID), h.Fingerprint)
					require.Equal(t, mode == strict, h.EpochStart == 0)

					require.NoError(t, w.open(a, token, p), "the instance that sealed")
					require.NoError(t, w.open(w.instance(t, opts), token, p), "a cold instance")

					forged := []byte(token)
					i := len(forged) - 10
					forged[i] = map[bool]byte{true: 'B', false: 'A'}[forged[i] == 'A']
					requireReason(t, requeststate.ReasonForged, w.open(a, string(forged), p))

					other := opts
					other.Audience = "staging"
					requireReason(t, requeststate.ReasonForged, w.open(w.instance(t, other), token, p))

					foreign := w.instance(t, Options{KeyID: w.CreateKey(kmstest.KeyOptions{}).ID, Modes: opts.Modes})
					requireReason(t, requeststate.ReasonKey, w.open(foreign, token, p))
				}
				for _, c := range w.Calls() {
					require.Equal(t, "HMAC_SHA_256", c.Algorithm)
					require.Equal(t, opts.KeyID == c.KeyID, c.KeyARN == w.key.ARN)
				}
			})
		}
	}
}

func TestModes(t *testing.T) {
	w := newWorld(t)
	modes := func(m ...requeststate.Mode) *Keys { return w.instance(t, Options{Modes: m}) }
	derivedToken, strictToken := w.seal(t, modes(derived), tool), w.seal(t, modes(strict), tool)

	both := modes(strict, derived)
	require.NoError(t, w.open(both, derivedToken, tool))
	require.NoError(t, w.open(both, strictToken, tool))
	h, _, err := requeststate.ParseHeader(w.seal(t, both, tool))
	require.NoError(t, err)
	require.Equal(t, strict, h.Mode)

	w.Reset()
	requireReason(t, requeststate.ReasonMode, w.open(modes(derived), strictToken, tool))
	requireReason(t, requeststate.ReasonMode, w.open(modes(strict), derivedToken, tool))
	_, err = modes(derived, strict).OpenSecret(context.Background(), requeststate.Header{Mode: requeststate.ModeStatic, Purpose: tool}, requeststate.Salt{})
	requireReason(t, requeststate.ReasonMode, err)
	_, err = both.OpenSecret(context.Background(), requeststate.Header{Mode: derived, Purpose: 9}, requeststate.Salt{})
	requireReason(t, requeststate.ReasonPurpose, err)
	_, err = both.SealKey(context.Background(), 0, requeststate.Salt{})
	require.Error(t, err)
	require.Zero(t, w.Count())
}

func TestMessagesAsSent(t *testing.T) {
	w := newWorld(t)
	aud := sha256.Sum256([]byte("prod"))
	k := w.instance(t, Options{KeyID: w.key.ID})
	w.seal(t, k, requeststate.PurposePrompt)
	w.seal(t, k, session)
	salt := requeststate.Salt{1, 2, 3}
	_, err := w.instance(t, Options{KeyID: w.key.ID, Modes: []requeststate.Mode{strict}}).SealKey(context.Background(), tool, salt)
	require.NoError(t, err)

	var got [][]byte
	for _, c := range w.Calls() {
		got = append(got, c.Message)
	}
	require.Equal(t, [][]byte{
		derivedMessage(aud, classFlow, classFlow.epochAt(w.now())),
		derivedMessage(aud, classSession, classSession.epochAt(w.now())),
		strictMessage(aud, tool, salt),
	}, got)
}

func TestStrictCallsOnceATime(t *testing.T) {
	for _, keyID := range []string{alias, ""} {
		w := newWorld(t)
		if keyID == "" {
			keyID = w.key.ID
		}
		opts := Options{KeyID: keyID, Modes: []requeststate.Mode{strict}}
		a, b := w.instance(t, opts), w.instance(t, opts)
		for range 2 {
			token := w.seal(t, a, tool)
			require.Equal(t, 1, w.took())
			require.NoError(t, w.open(b, token, tool))
			require.Equal(t, 1, w.took())
			require.NoError(t, w.open(b, token, tool))
			require.Equal(t, 1, w.took())
		}
		require.Empty(t, b.secrets)
		require.Empty(t, b.flights)
		b.Start(context.Background())
		require.NoError(t, b.Wait(context.Background(), time.Second))
		require.Zero(t, w.Count())

		_, err := b.OpenSecret(context.Background(), requeststate.Header{Mode: strict, Purpose: tool,
			Fingerprint: fingerprintOf(w.key.ID), EpochStart: 15}, requeststate.Salt{})
		requireReason(t, requeststate.ReasonEpochGrid, err)
		require.Zero(t, w.Count())
	}
}

func TestRegionalReplica(t *testing.T) {
	w := newWorld(t)
	here := w.CreateKey(kmstest.KeyOptions{MultiRegion: true})
	w.SetAlias(alias, here)
	other := kmstest.NewServer(kmstest.Options{Region: "us-east-1"})
	t.Cleanup(other.Close)
	there := here.Replicate(other)
	other.SetAlias(alias, there)

	for _, mode := range []requeststate.Mode{derived, strict} {
		for _, keyID := range []string{alias, here.ID} {
			opts := Options{KeyID: keyID, Modes: []requeststate.Mode{mode}}
			a, b := w.instance(t, opts), w.over(t, clientOf(other), opts)
			require.NoError(t, w.open(b, w.seal(t, a, tool), tool))
			require.NoError(t, w.open(a, w.seal(t, b, tool), tool))
		}
	}
	require.Positive(t, there.Calls())
}

// Whoever has no KMS call to make must not make one.
func TestNoCallForWhatCanBeTold(t *testing.T) {
	fp := func(w *world) requeststate.Fingerprint { return fingerprintOf(w.key.ID) }
	at := func(s string) requeststate.EpochMinute {
		v, err := time.Parse(time.DateTime, s)
		require.NoError(t, err)
		return requeststate.EpochMinute(v.Unix() / 60)
	}
	// The clock says 2026-07-28 13:31. Round TTL 10 min, session TTL 24 h, skew 60 s.
	tests := map[string]struct {
		purpose requeststate.Purpose
		start   requeststate.EpochMinute
		add     time.Duration
		want    requeststate.Reason
	}{
		"off the grid":                  {tool, at("2026-07-28 13:31:00"), 0, requeststate.ReasonEpochGrid},
		"off the grid, far away":        {tool, 1<<32 - 1 - 1, 0, requeststate.ReasonEpochGrid},
		"a flow's epoch for a session":  {session, at("2026-07-28 13:30:00"), 0, requeststate.ReasonEpochGrid},
		"zero":                          {tool, 0, 0, requeststate.ReasonEpochOld},
		"the furthest":                  {tool, (1<<32 - 1) / 15 * 15, 0, requeststate.ReasonEpochAhead},
		"ended TTL and skew ago":        {tool, at("2026-07-28 13:05:00") / 15 * 15, 0, requeststate.ReasonEpochOld},
		"ended just now, with skew":     {tool, at("2026-07-28 13:15:00"), 10 * time.Minute, requeststate.ReasonEpochOld},
		"ended a little less ago":       {tool, at("2026-07-28 13:15:00"), 10*time.Minute - time.Second, ""},
		"current":                       {tool, at("2026-07-28 13:30:00"), 0, ""},
		"next":                          {tool, at("2026-07-28 13:45:00"), 0, requeststate.ReasonEpochAhead},
		"next, just more than skew":     {tool, at("2026-07-28 13:45:00"), 13*time.Minute - time.Second, requeststate.ReasonEpochAhead},
		"next, within skew":             {tool, at("2026-07-28 13:45:00"), 13 * time.Minute, ""},
		"yesterday's session":           {session, at("2026-07-27 00:00:00"), 0, ""},
		"the day before's session":      {session, at("2026-07-26 00:00:00"), 0, requeststate.ReasonEpochOld},
		"tomorrow's session":            {session, at("2026-07-29 00:00:00"), 0, requeststate.ReasonEpochAhead},
		"tomorrow's, seconds before it": {session, at("2026-07-29 00:00:00"), 10*time.Hour + 28*time.Minute, ""},
	}
	for name, tt := range tests {
		for _, byAlias := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t)
				opts := Options{KeyID: w.key.ID}
				if byAlias {
					opts.KeyID = alias
				}
				k := w.instance(t, opts)
				w.add(tt.add)
				h := requeststate.Header{Mode: derived, Purpose: tt.purpose, Fingerprint: fp(w), EpochStart: tt.start}
				_, err := k.OpenSecret(context.Background(), h, requeststate.Salt{})
				if tt.want == "" {
					require.NoError(t, err)
					require.Positive(t, w.Count())
					return
				}
				requireReason(t, tt.want, err)
				require.Zero(t, w.Count())

				// Known by now or not, an unknown key is the first thing told.
				w.seal(t, k, tool)
				w.Reset()
				_, err = k.OpenSecret(context.Background(), h, requeststate.Salt{})
				requireReason(t, tt.want, err)
				h.Fingerprint[0] ^= 1
				_, err = k.OpenSecret(context.Background(), h, requeststate.Salt{})
				requireReason(t, requeststate.ReasonKey, err)
				require.Zero(t, w.Count())
			})
		}
	}
}

func TestNew(t *testing.T) {
	w := newWorld(t)
	good := Options{KeyID: alias, Audience: "prod"}
	_, err := New(w.client(), good)
	require.NoError(t, err)
	_, err = New(nil, good)
	require.ErrorContains(t, err, "no KMS client")

	tests := map[string]struct {
		change func(*Options)
		want   string
	}{
		"no key":            {func(o *Options) { o.KeyID = "" }, `key ""`},
		"bad key":           {func(o *Options) { o.KeyID = "mrtr" }, `key "mrtr"`},
		"no audience":       {func(o *Options) { o.Audience = "" }, "no audience"},
		"bad accepted key":  {func(o *Options) { o.AcceptKeyIDs = []string{w.key.ID, "x"} }, `accepted key "x"`},
		"accepted alias":    {func(o *Options) { o.AcceptKeyIDs = []string{alias} }, "no certain key"},
		"accepted aliasARN": {func(o *Options) { o.AcceptKeyIDs = []string{w.AliasARN(alias)} }, "no certain key"},
		"static mode":       {func(o *Options) { o.Modes = []requeststate.Mode{requeststate.ModeStatic} }, "mode static"},
		"mode twice":        {func(o *Options) { o.Modes = []requeststate.Mode{strict, strict} }, "mode strict"},
		"round TTL":         {func(o *Options) { o.RoundTTL = time.Hour + 1 }, "round TTL"},
		"round TTL below 0": {func(o *Options) { o.RoundTTL = -1 }, "round TTL"},
		"session TTL":       {func(o *Options) { o.SessionTTL = MaxSessionTTL + 1 }, "session TTL"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			opts := good
			tt.change(&opts)
			_, err := New(w.client(), opts)
			require.ErrorContains(t, err, tt.want)
		})
	}
	require.Zero(t, w.Count())
}
