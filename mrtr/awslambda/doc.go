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
//	MRTR_RESPONSE_MODE       buffered (the default)
//
// The AWS SDK reads its own variables, AWS_ENDPOINT_URL_KMS among them.
package awslambda
