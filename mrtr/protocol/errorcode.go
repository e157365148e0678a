package protocol

// Codes of JSON-RPC 2.0 (Basic, Error Codes).
const (
	CodeParseError     = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternalError  = -32603
)

// Codes of MCP (Basic, Error Codes). Over HTTP all three come with status 400.
const (
	CodeHeaderMismatch                  = -32020
	CodeMissingRequiredClientCapability = -32021 // data: [MissingRequiredClientCapabilityData]
	CodeUnsupportedProtocolVersion      = -32022 // data: [UnsupportedProtocolVersionData]
)

// Codes of the handshake era only. They stay reserved and are not to be sent
// to a client that speaks 2026-07-28.
const (
	CodeResourceNotFound       = -32002 // 2025-11-25 and before; CodeInvalidParams since
	CodeURLElicitationRequired = -32042 // 2025-11-25; data: [URLElicitationRequiredData]
)
