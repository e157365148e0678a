package protocol

// Protocol revisions. Each is a date, so they order as strings do.
const (
	Version20250618 = "2025-06-18" // handshake era
	Version20251125 = "2025-11-25" // handshake era
	Version20260728 = "2026-07-28" // stateless; the revision these types describe
)
