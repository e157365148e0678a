// Package mrtr makes MCP servers whose tools ask back: a tool's handler is plain
// Go that stops at a question, and goes on with the answer in another request,
// on another process, with no session and no store in between.
//
//	type Dates struct {
//		From   string `json:"from" form:"title=From,format=date"`
//		Nights int    `json:"nights" form:"min=1,max=30"`
//	}
//
//	srv := mrtr.NewServer(protocol.Implementation{Name: "travel", Version: "1.0.0"}, nil)
//	mrtr.AddTool(srv, mrtr.Tool{Name: "book_trip"}, func(ctx context.Context, c *mrtr.Call, in Trip) (Booking, error) {
//		dates, err := mrtr.Ask[Dates](c, "dates", "When do you want to go to "+in.City+"?")
//		if err != nil {
//			return Booking{}, err // not answered yet: this round ends here
//		}
//		price, err := mrtr.Step(ctx, c, "quote", func(ctx context.Context) (Price, error) {
//			return airline.Quote(ctx, in, dates)
//		})
//		if err != nil {
//			return Booking{}, err
//		}
//		if err := mrtr.Confirm(c, "confirm", "Book for "+price.String()+"?"); err != nil {
//			return Booking{}, err
//		}
//		…
//	})
//	handler, err := srv.Handler(mrtr.HandlerOptions{Keys: keys, Audience: "travel-production"})
//
// What this gives is a [net/http.Handler]. Package awslambda serves it on AWS
// Lambda under keys of AWS KMS; package mrtrtest plays calls in tests.
//
// # The model
//
// A call is a flow of rounds, and each round is one request. In each round the
// handler runs again from the top. What it has asked and been told, and what its
// steps returned, is a log, which the client carries as a sealed token (package
// requeststate) and cannot read or change. An ask whose answer is in the log, and
// a step whose value is, return at once. The first ask without an answer returns
// an error; the handler returns that error, and the round ends with the question.
//
// So whatever stands above an ask runs once a round. It must come to the same
// asks and steps, in the same order, each time: what is slow, costs something,
// changes something, or differs from run to run belongs into a [Step]. A step
// runs at least once, since a reply may be lost: effects take a key of
// [Call.IdempotencyKey] and stand behind a [Confirm]. Where a run does not fit its
// log, the flow has diverged: nothing runs any further, the server's own log
// names the first difference, and the client is told to begin anew.
//
// # Forms
//
// [Ask] and [Form] make a form of a flat struct. Its fields are string, integers,
// floats, bool, [time.Time], types made of these, pointers to them, and lists of
// strings that have an enum. The json tag gives the name; a field must be answered unless
// it is a pointer or its tag says omitempty or omitzero. The tag
// form:"key=value,key=value" says more; a comma inside a value is written twice,
// and so is a vertical bar inside a value of a list.
//
//	title, description     shown to the user
//	default                what the client fills in at first; lists as in enum
//	format                 text: email, uri, date or date-time
//	minLength, maxLength   text: bounds of its length, in code points
//	pattern                text: a regular expression that both RE2 and ECMAScript know
//	min, max               numbers: bounds, which count as allowed
//	enum                   allowed values: a|b|c
//	enumTitles             what the user sees instead, one for each value: A|B|C
//	minItems, maxItems     lists: bounds of the number of values
//
// A default is a proposal to the user. Where an answer leaves a field out, the Go
// field has its zero value.
//
// # Errors
//
// [Errorf] makes an error whose text reaches the client. An [*OutcomeError], a no
// to a question, ends the call politely. Of any other error the client learns
// nothing but that the tool failed; its text goes to the log.
//
// The page docs/writing-tools.md of the repository has the rules in full, the
// usual mistakes and what comes of them.
package mrtr
