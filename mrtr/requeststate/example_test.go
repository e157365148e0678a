package requeststate_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

func Example() {
	secret := make([]byte, requeststate.MinSecretSize)
	rand.Read(secret)
	keys, err := requeststate.NewStaticKeys(secret)
	if err != nil {
		panic(err)
	}

	// A tool asks something back: its state goes to the client.
	now := time.Now()
	args, err := requeststate.ArgumentsDigest([]byte(`{"city": "Lyon", "nights": 2}`))
	if err != nil {
		panic(err)
	}
	caller := requeststate.PrincipalDigest("https://issuer.example", "user-1", "client-1")
	claims := requeststate.Claims{
		Audience: requeststate.AudienceDigest("mcp.example"), Principal: &caller,
		Method: "tools/call", Target: "book_trip", Arguments: args,
		Round: 1, IssuedAt: now, RoundExpiry: now.Add(10 * time.Minute), FlowDeadline: now.Add(time.Hour),
	}
	claims.NewFlow()
	token, err := requeststate.Seal(context.Background(), keys, requeststate.PurposeTool, claims, []byte("asked: dates"), 0)
	if err != nil {
		panic(err)
	}

	// The client calls again, with the token. Here the order of the members
	// differs, which does not matter.
	args, err = requeststate.ArgumentsDigest([]byte(`{"nights": 2, "city": "Lyon"}`))
	if err != nil {
		panic(err)
	}
	want := requeststate.Binding{
		Purpose: requeststate.PurposeTool, Audience: requeststate.AudienceDigest("mcp.example"), Principal: &caller,
		Method: "tools/call", Target: "book_trip", Arguments: args,
	}
	got, body, err := requeststate.Open(context.Background(), keys, token, want, requeststate.OpenOptions{})
	fmt.Printf("round %d, %s, %v\n", got.Round, body, err)

	// Another caller presents it.
	other := requeststate.PrincipalDigest("https://issuer.example", "user-2", "client-1")
	want.Principal = &other
	_, _, err = requeststate.Open(context.Background(), keys, token, want, requeststate.OpenOptions{})
	var refused *requeststate.RefusedError
	fmt.Println(errors.As(err, &refused), refused.Reason)
	// Output:
	// round 1, asked: dates, <nil>
	// true principal
}

func ExampleParseHeader() {
	const token = "AREAAAAAAAAAAAAAAAB6enp6enp6enp6enp6enp6enp6enp6enp6enp6enp6enp6enp6enp6enp6enp6enp6enp6eg"
	h, size, err := requeststate.ParseHeader(token)
	fmt.Println(h.Mode, h.Purpose, size, err)
	_, _, err = requeststate.ParseHeader(token + "==")
	fmt.Println(err)
	// Output:
	// static tool 67 <nil>
	// requeststate: token refused: malformed
}
