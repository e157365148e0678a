// Package otlp is a tracer provider that sends spans by OTLP over HTTP and is
// set up by the standard environment variables:
//
//	OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
//	                      where spans go, such as http://127.0.0.1:4318; either one turns traces on
//	OTEL_TRACES_EXPORTER  otlp also turns them on, none turns them off
//	OTEL_SDK_DISABLED     true turns them off
//	OTEL_EXPORTER_OTLP_PROTOCOL, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL
//	                      http/protobuf (the default) or http/json; grpc is not linked
//
// The exporter's other variables (headers, certificates, compression, time-out),
// OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, the sampler's and the span limits'
// count as well. Those of the batch processor do not: spans are kept until Flush
// is called, which suits functions that are frozen between requests. See Queue.
//
// On Lambda the resource has the function's name, version, region, memory and
// log stream, and the function's name is the service's where nothing else says
// so.
package otlp
