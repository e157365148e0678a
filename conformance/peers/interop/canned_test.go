package interop

import "fmt"

// cannedTool gives the result of the n-th call of a tool, which the endpoint
// itself never gives: what clients do with it decides how a tool may yield.
type cannedTool func(n int) string

// The tools. The first three never finish.
const (
	emptyTool   = "no_questions"     // inputRequests is {}
	absentTool  = "no_inputrequests" // inputRequests is left out
	endlessTool = "endless"          // a question in every round
	mixedTool   = "mixed"            // {} twice, a question, {} twice, done
	bareTool    = "bare"             // roots/list without params, done
)

const mixedRounds = 6

var cannedTools = map[string]cannedTool{
	emptyTool:   func(n int) string { return asking(n, `"inputRequests":{},`) },
	absentTool:  func(n int) string { return asking(n, "") },
	endlessTool: func(n int) string { return asking(n, question) },
	mixedTool: func(n int) string {
		switch {
		case n >= mixedRounds:
			return cannedDone
		case n == mixedRounds/2:
			return asking(n, question)
		}
		return asking(n, `"inputRequests":{},`)
	},
	bareTool: func(n int) string {
		if n > 1 {
			return cannedDone
		}
		return asking(n, `"inputRequests":{"roots":{"method":"roots/list"}},`)
	},
}

const cannedDone = `{"resultType":"complete","content":[{"type":"text","text":"done"}]}`

const question = `"inputRequests":{"name":{"method":"elicitation/create","params":{"mode":"form","message":"What is your name?",` +
	`"requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}},`

func asking(n int, requests string) string {
	return fmt.Sprintf(`{"resultType":"input_required",%s"requestState":%q}`, requests, cannedState(n))
}

func cannedState(n int) string { return fmt.Sprintf("state of round %d", n) }
