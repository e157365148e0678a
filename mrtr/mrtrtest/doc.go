// Package mrtrtest plays multi-round calls in tests: it answers a tool's
// questions with given answers, round by round, and returns what went over the
// wire.
//
//	played := mrtrtest.Play(t, mrtrtest.Local(srv), mrtrtest.Call{
//		Name:    "greet",
//		Answers: mrtrtest.Answers{"user_name": map[string]any{"name": "Alice"}},
//	})
//	require.Equal(t, "Hello, Alice!", played.Text())
package mrtrtest
