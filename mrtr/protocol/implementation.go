package protocol

// Implementation names a piece of software, as it describes itself: nobody
// verifies it, so it is for display and logs only (schema: Implementation).
type Implementation struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitzero"` // for display; empty: Name
	Version     string `json:"version"`
	Description string `json:"description,omitzero"`
	WebsiteURL  string `json:"websiteUrl,omitzero"`
	Icons       []Icon `json:"icons,omitzero"`
}
