// Package kmskeys is a [requeststate.Keys] driver whose secrets come from an
// HMAC_256 key in AWS KMS, through kms:GenerateMac and nothing else. A MAC is
// deterministic, so every instance of a deployment gets the same secret for the
// same message and nothing is stored anywhere.
//
// In derived mode a secret holds for a class of tokens and an epoch: 15 minutes
// for the states of flows, 24 hours for session ids. An instance asks KMS at
// most once a key, class and epoch that it meets. In strict mode every token has
// a secret of its own: one call for each seal and each open, and nothing in
// memory that could make a second token.
//
// In derived mode a key that failed is left alone for a second; one that is in
// AcceptKeyIDs alone for a minute where it is disabled, denied by a policy, not
// found, not usable or no HMAC_256 key. Until then its failure is the answer. The
// first request after a Start that failed asks again at once. In strict mode the
// same holds for keys in AcceptKeyIDs; the key that seals is asked each time.
//
// Whoever may call GenerateMac on the key can derive every secret, past and
// future: use one key a deployment, with a policy that denies all but the
// function's role. The body of a reply is the secret, so never turn on the AWS
// SDK's logging of bodies.
package kmskeys
