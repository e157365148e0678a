package protocol

// MissingRequiredClientCapabilityData is the data of an error with
// [CodeMissingRequiredClientCapability] (schema:
// MissingRequiredClientCapabilityError).
type MissingRequiredClientCapabilityData struct {
	RequiredCapabilities ClientCapabilities `json:"requiredCapabilities"` // those that are missing
}

// UnsupportedProtocolVersionData is the data of an error with
// [CodeUnsupportedProtocolVersion] (schema: UnsupportedProtocolVersionError).
type UnsupportedProtocolVersionData struct {
	Supported []string `json:"supported"` // revisions the server serves
	Requested string   `json:"requested"` // the revision the request named
}

// RestartData is the data of a [CodeInvalidParams] error that refuses a
// requestState: the client is to begin the call again without one. The
// specification leaves this data to the server.
type RestartData struct {
	Restart bool `json:"restart"`
}

// ResourceNotFoundData is the data of the error for an unknown resource
// (Resources, Error Handling).
type ResourceNotFoundData struct {
	URI string `json:"uri"`
}

// URLElicitationRequiredData is the data of an error with
// [CodeURLElicitationRequired]. Handshake era (2025-11-25) only; each request
// must have its ElicitationID.
type URLElicitationRequiredData struct {
	Elicitations []ElicitURLParams `json:"elicitations"`
}
