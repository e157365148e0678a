// Package kmstest is a fake AWS KMS over HTTP for tests: GenerateMac as the
// real one answers it, and as strict. MACs are real HMACs under a secret that
// belongs to the key, so two processes that ask for the same get the same.
//
// A test creates a server and keys, points a client at it with Server.Client,
// or a child process with Server.Env, makes things go wrong, and reads what was
// asked for from Server.Calls. What is checked: method, content type, target,
// the form of the SigV4 header with its region and service (not the signature
// itself), every field's presence and limits, the key's state and spec, DryRun.
// Every operation but GenerateMac is denied, as by a role that may do no more.
package kmstest
