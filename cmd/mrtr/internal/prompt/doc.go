// Package prompt asks a person at a terminal what a server wants to know, and
// shows what servers say without letting them at the terminal.
package prompt
