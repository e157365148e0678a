package mrtr_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

func inspectedServer() *mrtr.Server {
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "buy", Revision: "2"}, func(ctx context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		var gift struct {
			Note string `json:"note"`
		}
		who, err := mrtr.Ask[struct {
			Name string `json:"name"`
		}](c, "who", "Who are you?")
		if err != nil {
			return nil, err
		}
		var answered bool
		if err := mrtr.AskAll(c, mrtr.Optional(mrtr.Form("gift", "A note?", &gift), &answered)); err != nil {
			return nil, err
		}
		if _, err := mrtr.Step(ctx, c, "price", func(context.Context) (int, error) { return 7, nil }); err != nil {
			return nil, err
		}
		return nil, mrtr.Confirm(c, "sure", "Buy for "+who.Name+"?")
	})
	return srv
}

// TestInspect reads the states of a flow, another caller's and past its time
// too.
func TestInspect(t *testing.T) {
	keys, err := requeststate.NewStaticKeys([]byte(strings.Repeat("i", requeststate.MinSecretSize)))
	require.NoError(t, err)
	start := time.Unix(1_800_000_000, 0).UTC()
	now := start
	played := mrtrtest.Play(t, mrtrtest.Local(inspectedServer(), func(o *mrtr.HandlerOptions) {
		o.Keys, o.Audience, o.Now = keys, "shop", func() time.Time { return now }
	}), mrtrtest.Call{Name: "buy", Answers: mrtrtest.Answers{
		"who": map[string]any{"name": "Alice"}, "gift": mrtrtest.Decline, "sure": mrtrtest.Decline,
	}})
	require.Len(t, played.Rounds, 4)

	i, err := mrtr.Inspect(t.Context(), keys, played.Rounds[2].State)
	require.NoError(t, err)
	require.Equal(t, requeststate.PurposeTool, i.Header.Purpose)
	require.Equal(t, requeststate.ModeStatic, i.Header.Mode)
	require.Equal(t, len(played.Rounds[2].State)*3/4, i.Size)
	require.Equal(t, "tools/call", i.Claims.Method)
	require.Equal(t, "buy", i.Claims.Target)
	require.Equal(t, "2", i.Claims.Revision)
	require.EqualValues(t, 3, i.Claims.Round)
	require.Equal(t, requeststate.AudienceDigest("shop"), i.Claims.Audience)
	require.Equal(t, start, i.Claims.IssuedAt)
	require.Equal(t, []mrtr.InspectedEntry{
		{Questions: []mrtr.InspectedQuestion{{Key: "who", Outcome: "accepted", Answer: []byte(`{"name":"Alice"}`)}}},
		{Questions: []mrtr.InspectedQuestion{{Key: "gift", Outcome: "declined"}}},
		{Step: "price", Result: []byte("7")},
		{Open: true, Questions: []mrtr.InspectedQuestion{{Key: "sure", Confirm: true}}},
	}, i.Log)
	require.Nil(t, i.Session)

	other, err := requeststate.NewStaticKeys([]byte(strings.Repeat("j", requeststate.MinSecretSize)))
	require.NoError(t, err)
	_, err = mrtr.Inspect(t.Context(), other, played.Rounds[2].State)
	require.ErrorIs(t, err, requeststate.ErrRefused)
	_, err = mrtr.Inspect(t.Context(), keys, "AR")
	require.ErrorIs(t, err, requeststate.ErrRefused)
}

func TestInspectSession(t *testing.T) {
	keys, err := requeststate.NewStaticKeys([]byte(strings.Repeat("i", requeststate.MinSecretSize)))
	require.NoError(t, err)
	h, err := inspectedServer().Handler(mrtr.HandlerOptions{Keys: keys, Audience: "shop"})
	require.NoError(t, err)
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
		"protocolVersion":"2025-11-25","clientInfo":{"name":"c","version":"1"},"capabilities":{"elicitation":{"url":{}},"roots":{}}}}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	id := w.Header().Get("Mcp-Session-Id")
	require.NotEmpty(t, id)

	i, err := mrtr.Inspect(t.Context(), keys, id)
	require.NoError(t, err)
	require.Equal(t, &mrtr.InspectedSession{Version: protocol.Version20251125, Capabilities: []string{"elicitation.url", "roots"}}, i.Session)
	require.Nil(t, i.Log)

	// A token that is no session's, nor a log.
	now := time.Now()
	c := requeststate.Claims{Method: "initialize", IssuedAt: now, RoundExpiry: now.Add(time.Hour), FlowDeadline: now.Add(time.Hour)}
	for _, p := range []requeststate.Purpose{requeststate.PurposeSession, requeststate.PurposeTool} {
		token, err := requeststate.Seal(t.Context(), keys, p, c, []byte("neither"), 0)
		require.NoError(t, err)
		_, err = mrtr.Inspect(t.Context(), keys, token)
		require.Error(t, err)
		require.NotContains(t, fmt.Sprint(err), "neither")
	}
}

// Inspect shows what a state holds to somebody who has the keys.
func ExampleInspect() {
	keys, err := requeststate.NewStaticKeys([]byte(strings.Repeat("i", requeststate.MinSecretSize)))
	if err != nil {
		panic(err)
	}
	local := mrtrtest.Local(inspectedServer(), func(o *mrtr.HandlerOptions) { o.Keys = keys })
	played := mrtrtest.Play(exampleTB{}, local, mrtrtest.Call{Name: "buy", Answers: mrtrtest.Answers{
		"who": map[string]any{"name": "Alice"}, "gift": mrtrtest.Decline, "sure": mrtrtest.Decline,
	}})

	i, err := mrtr.Inspect(context.Background(), keys, played.Rounds[2].State)
	if err != nil {
		panic(err)
	}
	fmt.Println(i.Claims.Target, "round", i.Claims.Round)
	for _, entry := range i.Log {
		if entry.Step != "" {
			fmt.Println("step", entry.Step)
		}
		for _, q := range entry.Questions {
			fmt.Printf("question %s %s\n", q.Key, q.Outcome)
		}
	}
	// Output:
	// buy round 3
	// question who accepted
	// question gift declined
	// step price
	// question sure
}
