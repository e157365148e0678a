package kmskeys

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// The messages that KMS computes MACs of. They are frozen: another byte is
// another secret, and every token out there is lost. Numbers are big endian.
//
//	derived = label(16) | version(1) | mode 2 | class(1) | 32 | SHA-256(audience)(32) | epoch start(4) | epoch length(4)
//	strict  = label(16) | version(1) | mode 3 | class(1) | 32 | SHA-256(audience)(32) | purpose(1) | 20 | salt(20)
//
// Times and lengths of epochs are in minutes. Every field has a fixed place and
// length, or its length before it, and mode tells the two layouts apart: two
// different inputs never make the same message.
const (
	messageLabel   = "mrtr-lambda key\x00"
	messageVersion = 1
)

// class says what a secret is for.
type class uint8

const (
	classFlow    class = 1 // the epoch secret of tool, prompt and resource states
	classSession class = 2 // the epoch secret of session ids
	classToken   class = 3 // the secret of one token, in strict mode
)

// classOf returns the epoch class of a purpose; ok is false for no purpose.
func classOf(p requeststate.Purpose) (c class, ok bool) {
	switch p {
	case requeststate.PurposeTool, requeststate.PurposePrompt, requeststate.PurposeResource:
		return classFlow, true
	case requeststate.PurposeSession:
		return classSession, true
	}
	return 0, false
}

const (
	flowEpoch    = 15 * time.Minute
	sessionEpoch = 24 * time.Hour
)

// epochLength returns how long the epochs of a class last.
func (c class) epochLength() time.Duration {
	if c == classSession {
		return sessionEpoch
	}
	return flowEpoch
}

// epochAt returns the start of the epoch of c that holds t.
func (c class) epochAt(t time.Time) requeststate.EpochMinute {
	length := int64(c.epochLength() / time.Minute)
	return requeststate.EpochMinute(t.Unix() / 60 / length * length)
}

// next returns the start of the epoch that follows the one at start.
func (c class) next(start requeststate.EpochMinute) requeststate.EpochMinute {
	return start + requeststate.EpochMinute(c.epochLength()/time.Minute)
}

// derivedMessage is the message of an epoch's secret.
func derivedMessage(audience [sha256.Size]byte, c class, start requeststate.EpochMinute) []byte {
	b := messageFront(requeststate.ModeDerived, c, audience)
	b = binary.BigEndian.AppendUint32(b, uint32(start))
	return binary.BigEndian.AppendUint32(b, uint32(c.epochLength()/time.Minute))
}

// strictMessage is the message of one token's secret.
func strictMessage(audience [sha256.Size]byte, p requeststate.Purpose, salt requeststate.Salt) []byte {
	b := messageFront(requeststate.ModeStrict, classToken, audience)
	b = append(b, byte(p), byte(len(salt)))
	return append(b, salt[:]...)
}

func messageFront(m requeststate.Mode, c class, audience [sha256.Size]byte) []byte {
	b := make([]byte, 0, 80)
	b = append(b, messageLabel...)
	b = append(b, messageVersion, byte(m), byte(c), byte(len(audience)))
	return append(b, audience[:]...)
}
