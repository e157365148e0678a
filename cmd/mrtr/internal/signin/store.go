package signin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/oauth2"
)

// store keeps one token an endpoint, each in a file that only the user reads.
type store struct{ dir string }

// kept is a token with what it takes to refresh it.
type kept struct {
	Endpoint     string    `json:"endpoint"`
	ClientID     string    `json:"clientId"`
	ClientSecret string    `json:"clientSecret,omitzero"`
	TokenURL     string    `json:"tokenUrl"`
	AuthStyle    int       `json:"authStyle,omitzero"` // of package oauth2
	AccessToken  string    `json:"accessToken"`
	RefreshToken string    `json:"refreshToken,omitzero"`
	TokenType    string    `json:"tokenType,omitzero"`
	Expiry       time.Time `json:"expiry,omitzero"`
}

func keep(endpoint string, c *oauth2.Config, t *oauth2.Token) *kept {
	return &kept{
		Endpoint: endpoint, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
		TokenURL: c.Endpoint.TokenURL, AuthStyle: int(c.Endpoint.AuthStyle),
		AccessToken: t.AccessToken, RefreshToken: t.RefreshToken, TokenType: t.TokenType, Expiry: t.Expiry,
	}
}

func (k *kept) config() *oauth2.Config {
	return &oauth2.Config{
		ClientID: k.ClientID, ClientSecret: k.ClientSecret,
		Endpoint: oauth2.Endpoint{TokenURL: k.TokenURL, AuthStyle: oauth2.AuthStyle(k.AuthStyle)},
	}
}

func (k *kept) token() *oauth2.Token {
	return &oauth2.Token{AccessToken: k.AccessToken, RefreshToken: k.RefreshToken, TokenType: k.TokenType, Expiry: k.Expiry}
}

func (s store) path(endpoint string) string {
	sum := sha256.Sum256([]byte(endpoint))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+".json")
}

// read returns what is kept for an endpoint; nil: nothing that is of use.
func (s store) read(endpoint string) (*kept, error) {
	b, err := os.ReadFile(s.path(endpoint))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the token that was kept: %w", err)
	}
	k := new(kept)
	if json.Unmarshal(b, k) != nil || k.Endpoint != endpoint || k.AccessToken == "" {
		return nil, nil
	}
	return k, nil
}

// write keeps a token: the file appears whole or not at all.
func (s store) write(k *kept) error {
	b, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("keeping the token: %w", err)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("keeping the token: %w", err)
	}
	f, err := os.CreateTemp(s.dir, "new-*") // with mode 0600
	if err != nil {
		return fmt.Errorf("keeping the token: %w", err)
	}
	_, err = f.Write(append(b, '\n'))
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), s.path(k.Endpoint))
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("keeping the token: %w", err)
	}
	return nil
}
