// Package jsonrpc reads and writes the JSON-RPC 2.0 envelope as MCP uses it
// over HTTP: one request or notification a body, ids kept as the bytes that
// came. It knows no MCP method.
package jsonrpc
