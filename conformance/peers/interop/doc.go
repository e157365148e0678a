// Package interop runs clients of other makes against the endpoint, each with
// its own automatic loop, and keeps what they did in docs/clients.md:
//
//	make interop                 # compare with the page
//	make interop UPDATE=-update  # write the page
//
// The clients that are Go modules run everywhere. Those of other languages need
// what make interop installs, and are skipped without it.
package interop
