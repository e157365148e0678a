package replay_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/replay"
)

// The model is a handler as a list of points, and what a flow through it knows,
// kept in maps by name. It has no log, no order of entries and no digests; the
// rules are stated over it a second time.

// point is a step or a group of a made-up handler.
type point struct {
	step string // else a group
	qs   []replay.Question
}

func (p point) name() string {
	if p.step != "" {
		return "step " + p.step
	}
	return "group " + p.qs[0].Key
}

// fact is what is known of a question.
type fact struct {
	outcome replay.Outcome
	value   string
}

type model struct {
	facts  map[string]fact
	steps  map[string]string
	closed map[string]bool // groups, by their first key
	open   string          // first key of the group that the last round ended with
	signed bool
}

func newModel() *model {
	return &model{facts: map[string]fact{}, steps: map[string]string{}, closed: map[string]bool{}}
}

// round says which keys a round over points must ask for: none where the
// handler comes to its end. It learns what the round learns.
func (m *model) round(points []point, fresh answers, stepValue func(string) string) []string {
	defer func() { m.signed = true }()
	for _, p := range points {
		if p.step != "" {
			if _, ok := m.steps[p.step]; !ok {
				m.steps[p.step] = stepValue(p.step)
			}
			continue
		}
		first := p.qs[0].Key
		if m.closed[first] {
			continue
		}
		no := false
		var missing []string
		for _, q := range p.qs {
			_, known := m.facts[q.Key]
			counts := m.signed && m.open == first || !m.signed && !q.Confirm
			if answer, ok := fresh[q.Key]; ok && counts && !known {
				if outcome, value, _ := check(answer); outcome != replay.Unanswered {
					m.facts[q.Key] = fact{outcome, string(value)}
				}
			}
			switch m.facts[q.Key].outcome {
			case replay.Unanswered:
				missing = append(missing, q.Key)
			case replay.Declined, replay.Cancelled:
				no = no || !q.Optional
			}
		}
		if len(missing) > 0 && !no {
			m.open = first
			return missing
		}
		m.closed[first] = true
	}
	return nil
}

func randomPoints(rng *rand.Rand) []point {
	points := make([]point, 1+rng.IntN(6))
	for i := range points {
		if rng.IntN(3) == 0 {
			points[i].step = fmt.Sprint("s", i)
			continue
		}
		for j := range 1 + rng.IntN(3) {
			key := fmt.Sprintf("q%d.%d", i, j)
			q := form(key)
			if rng.IntN(4) == 0 {
				q = confirm(key, "text of "+key)
			}
			q.Optional = rng.IntN(3) == 0
			points[i].qs = append(points[i].qs, q)
		}
	}
	return points
}

// randomAnswers answers some of the keys of all points, in every way there is.
func randomAnswers(rng *rand.Rand, points []point) answers {
	out := answers{}
	for _, p := range points {
		for _, q := range p.qs {
			switch n := rng.IntN(20); {
			case n < 8:
				out[q.Key] = jsontext.Value(fmt.Sprintf(`{"action":"accept","content":{"n":%d}}`, rng.IntN(1000)))
			case n == 8:
				out[q.Key] = decline
			case n == 9:
				out[q.Key] = cancel
			case n == 10:
				out[q.Key] = bad
			case n == 11:
				out[q.Key] = jsontext.Value(`null`)
			}
		}
	}
	return out
}

// play returns the handler of points. It holds what it gets against the model
// after the model has seen the round.
func play(t *testing.T, points []point, m *model, stepValue func(string) string) handler {
	return func(r *replay.Run) error {
		for _, p := range points {
			if p.step != "" {
				v, err := r.Step(p.step, func() (jsontext.Value, error) { return jsontext.Value(stepValue(p.step)), nil })
				if err != nil {
					return err
				}
				require.Equal(t, m.steps[p.step], string(v))
				continue
			}
			got, err := r.Ask(p.qs)
			if err != nil {
				return err
			}
			for i, q := range p.qs {
				require.Equal(t, q.Key, got[i].Key)
				require.Equal(t, m.facts[q.Key], fact{got[i].Outcome, string(got[i].Value)}, q.Key)
			}
		}
		return nil
	}
}

// TestModel plays random flows of random handlers, to their end or for 12
// rounds, each round twice from the same bytes.
func TestModel(t *testing.T) {
	ended, rounds := 0, 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 0))
		points := randomPoints(rng)
		m := newModel()
		var sealed []byte
		for n := range 12 {
			rounds++
			fresh := randomAnswers(rng, points)
			value := func(step string) string { return fmt.Sprintf(`{"of":%q,"in":%d}`, step, n) }
			want := m.round(points, fresh, value)
			r, err := round(t, sealed, fresh, play(t, points, m, value))
			if want == nil {
				require.NoError(t, err, "seed %d", seed)
				ended++
				break
			}
			require.ErrorIs(t, err, replay.ErrPending, "seed %d", seed)
			require.Equal(t, want, keys(r.Pending()), "seed %d", seed)
			next := seal(t, r)

			twin, _ := round(t, sealed, fresh, play(t, points, m, value))
			require.Equal(t, string(next), string(seal(t, twin)), "seed %d: the same round gave another log", seed)
			require.NotContains(t, string(next), "bad")
			sealed = next

			checkChanged(t, rng, points, sealed)
		}
	}
	require.Greater(t, ended, 2000, "most flows come to their end")
	require.Greater(t, rounds, 6000)
}

// checkChanged runs a handler over the log that differs from points before the
// log's last entry: two points changed places, one is gone, one is new. That is
// a divergence, whatever comes with it.
func checkChanged(t *testing.T, rng *rand.Rand, points []point, sealed []byte) {
	log, err := replay.Parse(sealed)
	require.NoError(t, err)
	past := len(log.Entries) - 1
	if past == 0 {
		return
	}
	changed := append([]point(nil), points...)
	at := rng.IntN(past)
	what := rng.IntN(3)
	switch what {
	case 0:
		changed[at], changed[at+1] = changed[at+1], changed[at]
	case 1:
		changed = append(changed[:at], changed[at+1:]...)
	case 2:
		changed = append(changed[:at:at], append([]point{{step: "new"}}, points[at:]...)...)
	}
	blind := func(r *replay.Run) error {
		for _, p := range changed {
			var err error
			if p.step != "" {
				_, err = r.Step(p.step, func() (jsontext.Value, error) { return jsontext.Value(`0`), nil })
			} else {
				_, err = r.Ask(p.qs)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	_, err = round(t, sealed, randomAnswers(rng, points), blind)
	require.Truef(t, errors.Is(err, replay.ErrDiverged), "change %d at %d (%s): %v", what, at, points[at].name(), err)
}
