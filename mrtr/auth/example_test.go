package auth_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/auth"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

func ExampleNewGuard() {
	const resource, issuer = "https://mcp.example.com/mcp", "https://issuer.example.com"
	who, err := auth.NewJWT([]auth.Issuer{{URL: issuer}}, []string{resource}, auth.JWTOptions{})
	if err != nil {
		panic(err)
	}
	guard, err := auth.NewGuard(who, &auth.Resource{
		URL: resource, AuthorizationServers: []string{issuer},
		Scopes:     []string{"trips:read"},
		ToolScopes: map[string][]string{"book_trip": {"trips:write"}},
	})
	if err != nil {
		panic(err)
	}
	srv := mrtr.NewServer(protocol.Implementation{Name: "trips", Version: "1.0.0"}, nil)
	keys, err := requeststate.NewStaticKeys(make([]byte, requeststate.MinSecretSize))
	if err != nil {
		panic(err)
	}
	endpoint, err := srv.Handler(mrtr.HandlerOptions{
		Keys: keys, Audience: "example",
		Authenticate: guard.Authenticate, Middleware: []mrtr.Middleware{guard.CheckScopes},
	})
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", endpoint)
	mux.Handle(auth.MetadataPath, guard.Metadata())
	mux.Handle(auth.MetadataPath+"/mcp", guard.Metadata())

	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/mcp", nil))
	fmt.Println(w.Code, w.Header().Get("WWW-Authenticate"))
	w = httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, auth.MetadataPath+"/mcp", nil))
	fmt.Println(w.Code, w.Body)
	// Output:
	// 401 Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", scope="trips:read"
	// 200 {"resource":"https://mcp.example.com/mcp","authorization_servers":["https://issuer.example.com"],"scopes_supported":["trips:read"],"bearer_methods_supported":["header"]}
}
