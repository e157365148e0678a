package auth

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// MetadataPath is the well-known path of a protected resource's metadata (RFC
// 9728). The resource's own path may follow it.
const MetadataPath = "/.well-known/oauth-protected-resource"

// encodeMetadata returns the metadata as JSON.
func encodeMetadata(resource string, servers, scopes []string) ([]byte, error) {
	return json.Marshal(struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported,omitempty"`
		Methods  []string `json:"bearer_methods_supported"`
	}{resource, servers, scopes, []string{"header"}})
}

// Metadata returns the handler of the metadata, for MetadataPath and what is
// below it. Anyone may read it, pages of any origin too. It answers 404 below
// MetadataPath where the rest is not the resource's path or its last segment,
// and everywhere for a guard without a Resource. What stands before
// MetadataPath, such as the base path of a custom domain, does not matter.
func (g *Guard) Metadata() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, rest, found := strings.Cut(r.URL.Path, MetadataPath)
		if g.resource == nil || !found || !slices.Contains(g.resource.suffixes, rest) {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		switch r.Method {
		case http.MethodGet, http.MethodHead:
			h.Set("Content-Type", "application/json")
			h.Set("Cache-Control", "public, max-age=300")
			_, _ = w.Write(g.resource.metadata)
		case http.MethodOptions:
			h.Set("Access-Control-Allow-Methods", "GET, HEAD")
			h.Set("Access-Control-Allow-Headers", "*")
			h.Set("Access-Control-Max-Age", "7200")
			w.WriteHeader(http.StatusNoContent)
		default:
			h.Set("Allow", "GET, HEAD, OPTIONS")
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	})
}
