// Package requeststate seals and opens MCP requestState tokens: the string that
// a stateless server hands to its client with an input_required result and gets
// back on the retry.
//
// A token is always encrypted and authenticated (AES-256-GCM under a key made
// for that token alone with HKDF-SHA-256), bound to the request it belongs to,
// and expires. SPEC.md in this folder is the authority on its bytes.
//
// The package knows nothing of AWS or HTTP. Where the secrets come from is the
// business of a [Keys] driver.
package requeststate
