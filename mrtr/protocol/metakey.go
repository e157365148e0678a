package protocol

// Keys of a request's _meta (Basic, General fields, _meta).
const (
	MetaProtocolVersion    = "io.modelcontextprotocol/protocolVersion"    // string; required
	MetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities" // [ClientCapabilities]; required
	MetaClientInfo         = "io.modelcontextprotocol/clientInfo"         // [Implementation]
	MetaLogLevel           = "io.modelcontextprotocol/logLevel"           // [LoggingLevel]; deprecated since 2026-07-28
	MetaProgressToken      = "progressToken"                              // string or integer
)

// Keys of a result's or a notification's _meta.
const (
	MetaServerInfo     = "io.modelcontextprotocol/serverInfo"     // result: [Implementation]
	MetaSubscriptionID = "io.modelcontextprotocol/subscriptionId" // id of the subscriptions/listen request
)

// Keys of trace context, in the forms of W3C Trace Context and W3C Baggage.
const (
	MetaTraceparent = "traceparent"
	MetaTracestate  = "tracestate"
	MetaBaggage     = "baggage"
)
