// Command mrtr calls MCP tools that ask back, reads the tokens that carry such
// calls, and shows how they work.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], stdio{in: os.Stdin, out: os.Stdout, err: os.Stderr})) }
