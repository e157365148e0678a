package requeststate

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
)

// encoding is base64url without padding; Strict refuses stray trailing bits.
var encoding = base64.RawURLEncoding.Strict()

// Header is the readable front of a token. It is authenticated.
type Header struct {
	Mode        Mode
	Purpose     Purpose
	Fingerprint Fingerprint
	EpochStart  EpochMinute
}

func (h Header) append(b []byte) []byte {
	b = append(b, Version, byte(h.Mode)<<4|byte(h.Purpose))
	b = append(b, h.Fingerprint[:]...)
	return binary.BigEndian.AppendUint32(b, uint32(h.EpochStart))
}

// parseHeader reads a header from raw, which holds at least headerSize bytes
// and begins with Version.
func parseHeader(raw []byte) Header {
	return Header{
		Mode:        Mode(raw[1] >> 4),
		Purpose:     Purpose(raw[1] & 0x0f),
		Fingerprint: Fingerprint(raw[2:10]),
		EpochStart:  EpochMinute(binary.BigEndian.Uint32(raw[10:14])),
	}
}

// ParseHeader returns the readable part of a token and the token's size in
// bytes once decoded. It reads tokens of DefaultMaxSize at most, and looks at
// size, spelling and version, not at the rest. It proves nothing: anybody can
// write a header.
func ParseHeader(token string) (Header, int, error) {
	raw, err := decode(token, 0)
	if err != nil {
		return Header{}, 0, err
	}
	return parseHeader(raw), len(raw), nil
}

// decode checks a token's size, spelling and version.
func decode(token string, maxSize int) ([]byte, error) {
	if maxSize <= 0 {
		maxSize = DefaultMaxSize
	}
	if len(token) > maxSize {
		return nil, refuse(ReasonTooLong)
	}
	// The decoder skips line breaks, which would give a token a second spelling.
	if strings.IndexByte(token, '\n') >= 0 || strings.IndexByte(token, '\r') >= 0 {
		return nil, refuse(ReasonMalformed)
	}
	raw, err := encoding.DecodeString(token)
	if err != nil || len(raw) == 0 {
		return nil, refuse(ReasonMalformed)
	}
	if raw[0] != Version {
		return nil, refuse(ReasonVersion)
	}
	if len(raw) < minRawSize {
		return nil, refuse(ReasonMalformed)
	}
	return raw, nil
}
