// Package oauth has clients sign in to the endpoint: official ones, and ours,
// with an authorization server on this machine and the real function behind a
// gateway. What they did is kept in clients.md, which is a part of
// docs/clients.md:
//
//	make interop                 # compare with the page
//	make interop UPDATE=-update  # write the page
//
// The Go clients run everywhere. That of another language needs what make
// interop installs, and is skipped without it.
package oauth
