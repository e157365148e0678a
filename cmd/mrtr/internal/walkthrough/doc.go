// Package walkthrough shows how a call that asks back works, step by step: what
// happens, the diagram, the curl that does the same, and the JSON that went over
// the wire. The steps are defined once; a terminal, a full-screen view and a page
// of documentation show the same ones with the answers of a real endpoint.
package walkthrough
