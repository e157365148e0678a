// Package lambdahttp serves an http.Handler on AWS Lambda, behind an API
// Gateway HTTP API (payload format 2.0, or 1.0), an API Gateway REST API (proxy
// integration) or a Lambda Function URL. It turns events into requests and
// responses into replies, and knows nothing of what the handler does.
//
// # Requests
//
// A request looks as net/http's server would give it: canonical header names,
// Host taken from the event's domain name and absent from Header, ContentLength
// set, RemoteAddr "ip:0". The stage prefix of a named HTTP API stage is taken
// off the path. REST APIs and Function URLs hand over the path as the client
// sent it, percent-encoded; HTTP APIs hand it over decoded, and it is taken
// literally, since decoding it again would let "/%2561dmin" pass for "/admin"
// behind a gateway that routed it elsewhere. A custom domain's base path stays
// in a REST API's path: see http.StripPrefix.
//
// What an HTTP server would refuse (a method that is no token, control
// characters in a path, query, header or host, a body that is not the base64 it
// claims to be) is answered 400 here and never reaches the handler. So is any
// event that is not an HTTP request, such as a scheduled one: its reply is an
// object with statusCode 400, not a function error, so that nothing of it is
// logged or retried.
//
// # Deadline
//
// The request's context ends before the invocation does, by Options.Margin.
//
// # Replies
//
// A buffered reply is JSON, and Lambda limits it to 6 MB in that form: a body
// full of quotes counts nearly double. See ReplyLimiter and Options.TooLarge.
// Bodies are sent as text when they are valid UTF-8 without a Content-Encoding,
// otherwise as base64 (a REST API then needs binaryMediaTypes). Content-Type is
// detected when the handler sets none, as net/http does. Content-Length,
// Connection and Transfer-Encoding are left to the gateway.
//
// A streamed reply is not limited. It starts with the first Flush, or once 4 KiB
// are written, or when the handler returns; each Flush sends what was written.
// A panic after that ends the stream with an error trailer; before it, the
// reply is a 500. The process goes on in both cases. Lambda does not tell a
// function that its client left.
//
// The gateway decides whether it expects a stream, and an event does not tell:
// a function behind a streaming Function URL or REST integration is started
// with ModeStream, any other with ModeBuffered. HTTP APIs cannot stream and get
// buffered replies in both modes.
package lambdahttp
