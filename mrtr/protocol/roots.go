package protocol

// Root is a directory or file that a server may work on (Roots, Root). Roots
// are deprecated since 2026-07-28.
type Root struct {
	URI  string `json:"uri"` // begins with file://
	Name string `json:"name,omitzero"`
	Meta Object `json:"_meta,omitzero"`
}

// ListRootsResult answers a roots/list request.
type ListRootsResult struct {
	Roots []Root `json:"roots"`
}
