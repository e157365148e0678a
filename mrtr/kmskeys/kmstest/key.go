package kmstest

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
)

// account owns every key of the fake.
const account = "111122223333"

// Spec is a KMS key spec.
type Spec string

// The specs. The zero value means HMAC256.
const (
	HMAC224   Spec = "HMAC_224"
	HMAC256   Spec = "HMAC_256"
	HMAC384   Spec = "HMAC_384"
	HMAC512   Spec = "HMAC_512"
	Symmetric Spec = "SYMMETRIC_DEFAULT" // for encryption: it makes no MACs
)

// State is what a key can be used for.
type State int

// The states. A new key is enabled.
const (
	Enabled State = iota
	Disabled
	PendingDeletion
	Denied // enabled, but a policy forbids the caller to use it
)

// KeyOptions say what key to create. The zero value is an HMAC_256 key in one
// region.
type KeyOptions struct {
	Spec        Spec
	MultiRegion bool // the id begins with mrk- and can be replicated
}

// Key is a key on one server. Its fields do not change.
type Key struct {
	ID  string
	ARN string

	server   *Server
	spec     Spec
	material []byte
	state    State // under server.mu
}

// CreateKey makes a key with random material.
func (s *Server) CreateKey(opts KeyOptions) *Key {
	raw, material := make([]byte, 16), make([]byte, 32)
	rand.Read(raw)
	rand.Read(material)
	x := hex.EncodeToString(raw)
	id := fmt.Sprintf("%s-%s-%s-%s-%s", x[:8], x[8:12], x[12:16], x[16:20], x[20:])
	if opts.MultiRegion {
		id = "mrk-" + x
	}
	if opts.Spec == "" {
		opts.Spec = HMAC256
	}
	return s.addKey(id, opts.Spec, material)
}

// Replicate makes a replica of a multi-region key on a server of another
// region: same id, same material, a state of its own.
func (k *Key) Replicate(to *Server) *Key {
	if !strings.HasPrefix(k.ID, "mrk-") || k.server.region == to.region {
		panic("kmstest: only a multi-region key can be replicated, and only to another region")
	}
	return to.addKey(k.ID, k.spec, k.material)
}

func (s *Server) addKey(id string, spec Spec, material []byte) *Key {
	k := &Key{ID: id, ARN: s.arn("key/" + id), server: s, spec: spec, material: material}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[id] = k
	return k
}

func (s *Server) arn(resource string) string {
	return "arn:aws:kms:" + s.region + ":" + account + ":" + resource
}

// SetState changes what the key can be used for, from the next request on.
func (k *Key) SetState(st State) {
	k.server.mu.Lock()
	defer k.server.mu.Unlock()
	k.state = st
}

// Calls returns how many requests named this key, refused ones included.
func (k *Key) Calls() int {
	n := 0
	for _, c := range k.server.Calls() {
		if c.KeyARN == k.ARN {
			n++
		}
	}
	return n
}

// SetAlias creates an alias, or moves it to another key. The name begins with
// alias/.
func (s *Server) SetAlias(name string, k *Key) {
	if !strings.HasPrefix(name, "alias/") || k.server != s {
		panic("kmstest: an alias is named alias/NAME and names a key of its own server")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aliases[name] = k.ID
}

// DeleteAlias deletes an alias.
func (s *Server) DeleteAlias(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.aliases, name)
}

// AliasARN returns the ARN of an alias on this server.
func (s *Server) AliasARN(name string) string { return s.arn(name) }

// findLocked resolves any of the four forms of a KeyId.
func (s *Server) findLocked(name string) (*Key, *failure) {
	resource := name
	if strings.HasPrefix(name, "arn:") {
		rest, ok := strings.CutPrefix(name, s.arn(""))
		if !ok {
			return nil, notFound("Invalid arn " + name)
		}
		resource = rest
		if !strings.HasPrefix(rest, "alias/") {
			if resource, ok = strings.CutPrefix(rest, "key/"); !ok {
				return nil, notFound("Invalid arn " + name)
			}
		}
	}
	if strings.HasPrefix(resource, "alias/") {
		id, ok := s.aliases[resource]
		if !ok {
			return nil, notFound("Alias " + s.arn(resource) + " is not found.")
		}
		resource = id
	}
	k, ok := s.keys[resource]
	if !ok {
		return nil, notFound("Key '" + s.arn("key/"+resource) + "' does not exist")
	}
	return k, nil
}

func notFound(message string) *failure { return &failure{400, "NotFoundException", message} }
