package protocol_test

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

func printJSON(v any) {
	b, err := json.Marshal(v, jsontext.WithIndent("  "))
	if err != nil {
		panic(err)
	}
	fmt.Println(string(b))
}

func ExampleCallToolResult() {
	printJSON(protocol.CallToolResult{
		ResultType: protocol.ResultComplete,
		Content: protocol.ContentList{
			protocol.Text("Booked."),
			&protocol.ResourceLink{URI: "https://trips.example/7", Name: "receipt"},
		},
	})
	// Output:
	// {
	//   "resultType": "complete",
	//   "content": [
	//     {
	//       "type": "text",
	//       "text": "Booked."
	//     },
	//     {
	//       "type": "resource_link",
	//       "uri": "https://trips.example/7",
	//       "name": "receipt"
	//     }
	//   ]
	// }
}

func ExampleFormSchema() {
	printJSON(&protocol.FormSchema{
		Properties: protocol.Properties{
			{"nights", &protocol.NumberSchema{Integer: true, Minimum: new(1.0)}},
			{"class", &protocol.SingleSelectEnumSchema{Options: []protocol.EnumOption{{Const: "economy"}, {Const: "first"}}}},
		},
		Required: []string{"nights"},
	})
	// Output:
	// {
	//   "type": "object",
	//   "properties": {
	//     "nights": {
	//       "type": "integer",
	//       "minimum": 1
	//     },
	//     "class": {
	//       "type": "string",
	//       "enum": [
	//         "economy",
	//         "first"
	//       ]
	//     }
	//   },
	//   "required": [
	//     "nights"
	//   ]
	// }
}

func ExampleClientCapabilities() {
	var c protocol.ClientCapabilities
	if err := json.Unmarshal([]byte(`{"elicitation": {}}`), &c); err != nil {
		panic(err)
	}
	fmt.Println(c.SupportsForm(), c.SupportsURL())
	// Output: true false
}

func ExampleContent() {
	var l protocol.ContentList
	if err := json.Unmarshal([]byte(`[{"type":"text","text":"hello"},{"type":"video","url":"v:1"}]`), &l); err != nil {
		panic(err)
	}
	for _, c := range l {
		switch c := c.(type) {
		case *protocol.TextContent:
			fmt.Println(c.Text)
		case *protocol.UnknownContent:
			fmt.Println("cannot show", c.Type)
		}
	}
	// Output:
	// hello
	// cannot show video
}
