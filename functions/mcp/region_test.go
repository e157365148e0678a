package main_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
)

// TestRegions plays flows whose rounds go to two regions in turn, a new process
// of the real binary each.
func TestRegions(t *testing.T) {
	needContract(t)
	t.Parallel()
	type region struct {
		kms *kmstest.Server
		env []string // beside that of the KMS
	}
	const audience = "MRTR_AUDIENCE=regions"
	for _, tt := range []struct {
		name string
		// setUp names the key in each region.
		setUp  func(first, second *region)
		outage bool   // the first region's KMS is gone from round 2 on
		reason string // of the refusal in round 2; empty: the flow comes to its end
	}{
		{name: "a replica, by id", setUp: func(first, second *region) {
			key := first.kms.CreateKey(kmstest.KeyOptions{MultiRegion: true})
			replica := key.Replicate(second.kms)
			first.env, second.env = []string{"MRTR_KMS_KEY_ID=" + key.ID, audience}, []string{"MRTR_KMS_KEY_ID=" + replica.ID, audience}
		}},
		{name: "a replica, by ARN", setUp: func(first, second *region) {
			key := first.kms.CreateKey(kmstest.KeyOptions{MultiRegion: true})
			replica := key.Replicate(second.kms)
			require.NotEqual(t, key.ARN, replica.ARN)
			first.env, second.env = []string{"MRTR_KMS_KEY_ID=" + key.ARN, audience}, []string{"MRTR_KMS_KEY_ID=" + replica.ARN, audience}
		}},
		{name: "a replica, behind aliases", setUp: func(first, second *region) {
			key := first.kms.CreateKey(kmstest.KeyOptions{MultiRegion: true})
			first.kms.SetAlias("alias/here", key)
			second.kms.SetAlias("alias/there", key.Replicate(second.kms))
			first.env, second.env = []string{"MRTR_KMS_KEY_ID=alias/here", audience}, []string{"MRTR_KMS_KEY_ID=alias/there", audience}
		}},
		{name: "a replica, in strict mode", setUp: func(first, second *region) {
			key := first.kms.CreateKey(kmstest.KeyOptions{MultiRegion: true})
			key.Replicate(second.kms)
			first.env = []string{"MRTR_KMS_KEY_ID=" + key.ID, audience, "MRTR_KMS_MODE=strict"}
			second.env = first.env
		}},
		{name: "the primary is gone, its region too", outage: true, setUp: func(first, second *region) {
			key := first.kms.CreateKey(kmstest.KeyOptions{MultiRegion: true})
			key.Replicate(second.kms)
			first.env = []string{"MRTR_KMS_KEY_ID=" + key.ID, audience}
			second.env = first.env
		}},
		{name: "a key in each region", reason: "unknown_key", setUp: func(first, second *region) {
			first.env = []string{"MRTR_KMS_KEY_ID=" + first.kms.CreateKey(kmstest.KeyOptions{MultiRegion: true}).ID, audience}
			second.env = []string{"MRTR_KMS_KEY_ID=" + second.kms.CreateKey(kmstest.KeyOptions{MultiRegion: true}).ID, audience}
		}},
		{name: "a replica, and a name of its own in each region", reason: "forged", setUp: func(first, second *region) {
			key := first.kms.CreateKey(kmstest.KeyOptions{MultiRegion: true})
			key.Replicate(second.kms)
			first.env, second.env = []string{"MRTR_KMS_KEY_ID=" + key.ID, "MRTR_AUDIENCE=one"}, []string{"MRTR_KMS_KEY_ID=" + key.ID, "MRTR_AUDIENCE=two"}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			regions := [2]*region{}
			for i, name := range []string{"eu-central-1", "us-east-1"} {
				fake := kmstest.NewServer(kmstest.Options{Region: name})
				t.Cleanup(fake.Close)
				regions[i] = &region{kms: fake}
			}
			tt.setUp(regions[0], regions[1])
			var logs strings.Builder
			at := 0
			endpoint := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				here := regions[at]
				api, err := lambdatest.Start(t.Context(), lambdatest.Options{Bootstrap: bootstrap, Fresh: true, Env: append(here.kms.Env(), here.env...)})
				require.NoError(t, err)
				defer api.Close()
				gatewayWithLogs(t, api, &logs).ServeHTTP(w, r)
			})
			played := mrtrtest.Play(t, mrtrtest.Handler(endpoint), mrtrtest.Call{
				Name:    multiRound,
				Answers: mrtrtest.Answers{"step1": map[string]any{"name": "Alice"}, "step2": map[string]any{"color": "blue"}},
				Edit: func(round int, _ *mrtrtest.Request) {
					at = (round + 1) % 2
					if tt.outage && round > 1 {
						at = 1
						regions[0].kms.SetOutage(true)
					}
				},
			})
			if tt.reason != "" {
				require.Len(t, played.Rounds, 2)
				require.Equal(t, http.StatusBadRequest, played.Last().Status)
				require.Contains(t, logs.String(), `"reason":"`+tt.reason+`"`)
				return
			}
			require.Equal(t, greeting, played.Text())
			require.Len(t, played.Rounds, 3)
			require.Positive(t, regions[0].kms.Count())
			require.Positive(t, regions[1].kms.Count())
			for i, r := range regions {
				for _, c := range r.kms.Calls() {
					require.Contains(t, c.KeyARN, [...]string{":eu-central-1:", ":us-east-1:"}[i], "a call to the other region's key")
				}
			}
		})
	}
}

// gatewayWithLogs is an HTTP API that keeps what the processes write.
func gatewayWithLogs(t *testing.T, api *lambdatest.API, logs *strings.Builder) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		event, err := lambdatest.Event(lambdatest.HTTPAPI, r, body)
		require.NoError(t, err)
		res, err := api.Invoke(t.Context(), event)
		require.NoError(t, err)
		require.Nil(t, res.FunctionError)
		logs.WriteString(res.Logs)
		reply, err := res.Reply()
		require.NoError(t, err)
		for name, values := range reply.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(reply.Status)
		_, _ = w.Write(reply.Body)
	})
}
