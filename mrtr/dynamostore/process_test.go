package dynamostore

import (
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
)

// TestProcesses plays the calls of a single-use tool over real processes.
func TestProcesses(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "bootstrap")
	require.NoError(t, lambdatest.Build(t.Context(), ".", "./testdata/pay", binary))
	frankfurt := kmstest.NewServer(kmstest.Options{})
	t.Cleanup(frankfurt.Close)
	dublin := kmstest.NewServer(kmstest.Options{Region: "eu-west-1"})
	t.Cleanup(dublin.Close)
	key := frankfurt.CreateKey(kmstest.KeyOptions{MultiRegion: true})
	key.Replicate(dublin)
	const begunElsewhere = "This call was begun elsewhere and cannot be finished here. Start it again."

	start := func(t *testing.T, opts lambdatest.Options, kms *kmstest.Server, env ...string) http.Handler {
		opts.Bootstrap = binary
		opts.Env = append(append(kms.Env(), "MRTR_KMS_KEY_ID="+key.ID, "MRTR_AUDIENCE=pay", "MRTR_AUTH=none"), env...)
		api, err := lambdatest.Start(t.Context(), opts)
		require.NoError(t, err)
		t.Cleanup(func() { api.Close() })
		return api.HTTPHandler(lambdatest.HTTPAPI)
	}
	play := func(t *testing.T, h http.Handler, cents int, edit func(int, *mrtrtest.Request), drop bool) *mrtrtest.Played {
		return mrtrtest.Play(t, mrtrtest.Handler(h), mrtrtest.Call{
			Name: "pay", Answers: mrtrtest.Answers{"amount": map[string]any{"cents": cents}},
			Edit: edit, Drop: func(round int) bool { return drop && round == 2 },
		})
	}

	t.Run("a new process for each request", func(t *testing.T) {
		db := newFake(t, testRegion, testTable)
		h := start(t, lambdatest.Options{Fresh: true}, frankfurt, db.env(testTable)...)
		played := play(t, h, 5, nil, true)
		require.Equal(t, "paid 5", played.Text())
		require.Equal(t, []string{"ok", "ok"}, db.took(), "the lost reply's claim and the retry's")

		// Back to round 1's state, with another answer.
		fork := func(round int, r *mrtrtest.Request) {
			if round == 2 {
				r.Params["requestState"] = played.Rounds[0].State
			}
		}
		forked := play(t, h, 7, fork, false)
		require.True(t, forked.Result.IsError)
		require.Equal(t, "This call has been continued already, with other answers. Start it again.", forked.Text())
		require.Equal(t, "paid 5", play(t, h, 5, fork, false).Text())
		require.Len(t, db.items(testTable), 1)
	})

	t.Run("forks at one time", func(t *testing.T) {
		db := newFake(t, testRegion, testTable)
		h := start(t, lambdatest.Options{Instances: 4}, frankfurt, db.env(testTable)...)
		begun := play(t, h, 1, nil, false) // for its state: the claim is of another flow below
		var state string
		play(t, h, 1, func(round int, r *mrtrtest.Request) {
			if round == 2 { // not sent under its own state: this flow stays unclaimed
				state = r.Params["requestState"].(string)
				r.Params["requestState"] = begun.Rounds[0].State
			}
		}, false)
		require.Len(t, db.items(testTable), 1)

		var wg sync.WaitGroup
		got := make([]string, 16)
		for i := range got {
			wg.Go(func() {
				got[i] = play(t, h, 10+i%2, func(round int, r *mrtrtest.Request) {
					if round == 2 {
						r.Params["requestState"] = state
					}
				}, false).Text()
			})
		}
		wg.Wait()
		winner := 0
		if got[1] == "paid 11" {
			winner = 1
		}
		for i, text := range got {
			if i%2 == winner {
				require.Equal(t, []string{"paid 10", "paid 11"}[i%2], text)
			} else {
				require.Contains(t, text, "continued already")
			}
		}
		require.Len(t, db.items(testTable), 2)
	})

	// The key has a replica, so the flow goes on in the other region; the claim
	// does not reach there.
	t.Run("another region", func(t *testing.T) {
		here, there := newFake(t, testRegion, testTable), newFake(t, "eu-west-1", testTable)
		first := start(t, lambdatest.Options{Fresh: true}, frankfurt, here.env(testTable)...)
		second := start(t, lambdatest.Options{Fresh: true}, dublin, there.env(testTable)...)
		h := http.Handler(first)
		played := play(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(w, r) }), 5, func(round int, _ *mrtrtest.Request) {
			if round == 2 {
				h = second
			}
		}, false)
		require.True(t, played.Result.IsError)
		require.Equal(t, begunElsewhere, played.Text())
		require.Empty(t, there.items(testTable))
	})

	t.Run("another table", func(t *testing.T) {
		db := newFake(t, testRegion, testTable, "other")
		h := start(t, lambdatest.Options{Fresh: true}, frankfurt, db.env(testTable)...)
		played := play(t, h, 5, nil, false)
		require.Equal(t, "paid 5", played.Text())
		h = start(t, lambdatest.Options{Fresh: true}, frankfurt, db.env("other")...)
		moved := play(t, h, 5, func(round int, r *mrtrtest.Request) {
			if round == 2 {
				r.Params["requestState"] = played.Rounds[0].State
			}
		}, false)
		require.Equal(t, begunElsewhere, moved.Text())
		require.Empty(t, db.items("other"))
	})

	// What fails leaves nothing done.
	for name, env := range map[string][]string{
		"no table is named": {"MRTR_REPLAY_TABLE="},
		"there is no table": newFake(t, testRegion).env(testTable),
		"the role may not":  newFake(t, "us-east-1", testTable).env(testTable),
		"nobody answers":    nil,
	} {
		t.Run(name, func(t *testing.T) {
			if env == nil {
				db := newFake(t, testRegion, testTable)
				db.Close()
				env = db.env(testTable)
			}
			played := play(t, start(t, lambdatest.Options{Fresh: true}, frankfurt, env...), 5, nil, false)
			require.True(t, played.Result.IsError)
			require.NotContains(t, played.Text(), "paid")
			require.NotContains(t, played.Text(), "dynamo")
		})
	}

	t.Run("a name that is none", func(t *testing.T) {
		_, err := lambdatest.Start(t.Context(), lambdatest.Options{Bootstrap: binary, Env: append(frankfurt.Env(),
			"MRTR_KMS_KEY_ID="+key.ID, "MRTR_AUDIENCE=pay", "MRTR_REPLAY_TABLE=my table")})
		var failed *lambdatest.InitError
		require.ErrorAs(t, err, &failed)
		require.Regexp(t, `mrtr: reading MRTR_REPLAY_TABLE: dynamostore: "my table" is no name of a table\n$`, failed.Logs)
	})
}
