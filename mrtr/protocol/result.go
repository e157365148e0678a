package protocol

// ResultType says how a result is to be read (Basic, ResultType). It is open:
// extensions add their own. A result without one is complete, as all results
// of the handshake era are.
type ResultType string

const (
	ResultComplete      ResultType = "complete"
	ResultInputRequired ResultType = "input_required" // an [InputRequiredResult]
)

// CacheScope says who may share a cached result (Caching, Cache Scope Field).
type CacheScope string

const (
	CachePublic  CacheScope = "public"  // the same for everyone
	CachePrivate CacheScope = "private" // within one authorization context
)

// CacheHints are the members that the results of server/discover, the lists
// and resources/read must have in 2026-07-28 (Caching). The handshake era has
// none of them.
type CacheHints struct {
	TTLMs int64      `json:"ttlMs"` // how long the result is fresh, milliseconds; 0: not at all
	Scope CacheScope `json:"cacheScope,omitzero"`
}
