// Package lambdatest runs a Lambda bootstrap binary against a fake Lambda Runtime
// API (2018-06-01) on loopback: one real process, or several, or a new one for
// each invocation. It sees what Lambda would see: payloads, streamed chunks,
// error trailers, function and init errors, exits, time-outs, logs.
//
// It needs no testing.T, so programs can use it too, and shares no code with the
// adapters it is meant to judge.
//
// An API can also stand as an http.Handler in front of the binary, as a gateway
// would: see API.HTTPHandler.
package lambdatest
