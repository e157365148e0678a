package requeststate

import "errors"

// Reason says why a token was refused. It is for logs and metrics: a client is
// told nothing but that the token was refused.
type Reason string

// The reasons, in the order in which Open looks.
const (
	ReasonTooLong       Reason = "too_long"         // longer than the limit; nothing else was looked at
	ReasonMalformed     Reason = "malformed"        // not canonical base64url, or too short to be a token
	ReasonVersion       Reason = "unknown_version"  // first byte is no version this package knows
	ReasonPurpose       Reason = "wrong_purpose"    // sealed for another kind of request
	ReasonMode          Reason = "unknown_mode"     // a key mode that these keys do not accept
	ReasonKey           Reason = "unknown_key"      // a fingerprint that these keys do not accept
	ReasonEpochGrid     Reason = "epoch_off_grid"   // epoch start is not one that a server would seal under
	ReasonEpochOld      Reason = "epoch_too_old"    // every token of that epoch has expired
	ReasonEpochAhead    Reason = "epoch_ahead"      // that epoch has not begun
	ReasonForged        Reason = "forged"           // the authentication tag does not fit
	ReasonClaims        Reason = "claims"           // authentic, but its claims cannot be read
	ReasonAudience      Reason = "audience"         // sealed by another deployment
	ReasonPrincipal     Reason = "principal"        // sealed for another caller
	ReasonNoPrincipal   Reason = "principal_absent" // sealed for a caller, presented by none
	ReasonSomePrincipal Reason = "principal_gained" // sealed for no caller, presented by one
	ReasonMethod        Reason = "method"           // sealed for another MCP method
	ReasonTarget        Reason = "target"           // sealed for another tool, prompt or resource
	ReasonArguments     Reason = "arguments"        // sealed for other arguments
	ReasonRevision      Reason = "revision"         // sealed by a revision of the target that is not accepted
	ReasonIssuedAhead   Reason = "issued_ahead"     // issued later than the clock skew explains
	ReasonFlowExpired   Reason = "flow_expired"     // the flow's deadline has passed
	ReasonRoundExpired  Reason = "round_expired"    // the round's expiry has passed
)

// ErrRefused is matched by every *RefusedError under errors.Is.
var ErrRefused = errors.New("requeststate: token refused")

// RefusedError is returned when a token is not accepted. It never holds any
// part of the token.
type RefusedError struct {
	Reason Reason
}

// Error returns the refusal with its reason. It is not for clients.
func (e *RefusedError) Error() string { return "requeststate: token refused: " + string(e.Reason) }

// Is reports whether target is ErrRefused.
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

func refuse(r Reason) error { return &RefusedError{Reason: r} }
