// Package awslambda runs an MCP server on AWS Lambda, and locally everywhere
// else, from one main function:
//
//	func main() { awslambda.Main(newServer) }
//
// On Lambda it serves API Gateway and Function URL events, with states sealed
// under a key that AWS KMS manages. Elsewhere it listens on a loopback address.
// All settings are environment variables; a bad one is one line on stderr and
// exit status 1.
//
//	MRTR_KMS_KEY_ID          HMAC_256 key that seals: ARN, id or alias; required on Lambda
//	MRTR_KMS_ACCEPT_KEY_IDS  further keys whose states are accepted: ids or ARNs, comma-separated
//	MRTR_KMS_MODE            derived, strict or both, comma-separated; the first seals (derived)
//	MRTR_AUDIENCE            name of the deployment in its states; required on Lambda
//	MRTR_ROUND_TTL           life of a round's state, at most 1h (10m)
//	MRTR_FLOW_TTL            life of a flow, all rounds together (1h)
//	MRTR_MAX_STATE_BYTES     length of a state (131072)
//	MRTR_MAX_BODY_BYTES      length of a request body (1048576)
//	MRTR_MAX_ROUNDS          rounds of a flow (50)
//	MRTR_ALLOWED_ORIGINS     origins of browser clients, comma-separated (none)
//	MRTR_RESPONSE_MODE       buffered, or stream behind a gateway that streams (buffered)
//	MRTR_GATEWAY_TIMEOUT     how long the gateway waits, 1s to 15m (29s, no limit for stream)
//	MRTR_REPLAY_TABLE        table in which Call.SingleUse claims flows, see Options.SingleUse (none; a local run's memory)
//
// A handler is cut off half a second before the gateway or Lambda gives up, so
// that the client gets an answer of this server's. Behind a Function URL, or a
// REST API whose limit was raised, say how long that waits.
//
// Who may call is said by MRTR_AUTH:
//
//	none         anyone; a warning is logged. Left out on Lambda it means this, with a louder warning
//	jwt          bearer tokens that are signed JWTs, checked here
//	gateway-jwt  bearer tokens that API Gateway's JWT or Cognito authorizer has checked
//	iam          requests signed with AWS credentials, checked by an API or Function URL with IAM authorization
//
// and for jwt and gateway-jwt by
//
//	MRTR_OAUTH_ISSUER          issuers whose tokens are accepted, exactly as they spell themselves, comma-separated; required
//	MRTR_OAUTH_RESOURCE        URL of this endpoint as clients call it, ending in /mcp; tokens must be for it; required
//	MRTR_OAUTH_AUDIENCES       what else the issuers call this resource in aud, comma-separated (none)
//	MRTR_OAUTH_SCOPES          scopes that every request needs, separated by spaces (none)
//	MRTR_OAUTH_TOOL_SCOPES     further scopes of tools, such as "book=trips:write,list=trips:read trips:list" (none)
//	MRTR_OAUTH_IMPLIED_SCOPES  narrower scopes that broad ones include, such as "trips:write=trips:read trips:list" (none)
//	MRTR_OAUTH_JWKS_URL        where the issuer's keys are, for one that publishes no metadata (found through it)
//
// See package auth for what they do. The audience of states, MRTR_AUDIENCE, is
// another thing than that of tokens.
//
// On Lambda each request writes a line of CloudWatch's embedded metric format to
// stdout, beside its log line on stderr; built with the tag otlp, each makes a
// span that is sent as the OTEL variables say (see package otlp) before the next
// event is taken. None of that ever holds what a caller sent or got.
// docs/observing.md lists the members, metrics and attributes.
//
//	MRTR_METRICS_NAMESPACE   CloudWatch namespace of the metrics; set to nothing: no metrics (MRTR)
//	MRTR_TRACE_WAIT          how long spans may take to be sent, while a buffered reply waits; at most 5s (50ms)
//
// The AWS SDK reads its own variables, AWS_ENDPOINT_URL_KMS among them.
package awslambda
