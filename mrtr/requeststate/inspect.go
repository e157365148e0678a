package requeststate

import "context"

// Inspect returns the header, claims and body of a token that was sealed under
// these keys, whatever request it belongs to and whether it has expired: for the
// eyes of an operator who holds the keys. It is no way to accept a token. What it
// returns does not say that a token is good for anything, and a server that
// continued a call with it would take a token of any caller, for any target and
// arguments, at any time; that is what Open is for.
//
// Errors are those of Open. The header is returned with them where it could be
// read. Keys that judge epochs by a clock refuse a token whose epoch has passed:
// give them the clock of that epoch.
func Inspect(ctx context.Context, keys Keys, token string) (Header, Claims, []byte, error) {
	raw, err := decode(token, 0)
	if err != nil {
		return Header{}, Claims{}, nil, err
	}
	h := parseHeader(raw)
	switch {
	case h.Purpose < PurposeTool || h.Purpose > PurposeSession:
		return h, Claims{}, nil, refuse(ReasonPurpose)
	case h.Mode < ModeStatic || h.Mode > ModeStrict:
		return h, Claims{}, nil, refuse(ReasonMode)
	}
	plaintext, err := decrypt(ctx, keys, h, raw)
	if err != nil {
		return h, Claims{}, nil, err
	}
	var c Claims
	body, ok := c.parse(plaintext)
	if !ok {
		return h, Claims{}, nil, refuse(ReasonClaims)
	}
	return h, c, body, nil
}
