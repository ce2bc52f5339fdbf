package statement

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
)

// KeysPath is where a site publishes its keys.
const KeysPath = "/.well-known/warpboard-key.json"

// PublicKey is a key that a site signs with, or did.
type PublicKey struct {
	ID    string    `json:"id"`         // SHA-256 of its DER form, in hex
	PEM   string    `json:"public_key"` // Ed25519, as openssl writes it
	Since time.Time `json:"since"`
}

// Keys is what a site publishes at KeysPath: the key in use first, then older ones, which stay valid.
type Keys struct {
	Keys []PublicKey `json:"keys"`
}

// ReadKeys reads what a site publishes.
func ReadKeys(text []byte) (k Keys, err error) {
	if err := json.Unmarshal(text, &k); err != nil || len(k.Keys) == 0 {
		return k, fmt.Errorf("want keys as a site publishes them at %s", KeysPath)
	}
	return k, nil
}

// Key signs. The zero value does not.
type Key struct{ private ed25519.PrivateKey }

// ReadKey reads a private key as `openssl genpkey -algorithm ed25519` writes it.
func ReadKey(text []byte) (Key, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return Key{}, errors.New("want a private key in PEM, as `openssl genpkey -algorithm ed25519` writes it")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return Key{}, errors.New("the PEM holds no private key in PKCS #8") // the parser's error may quote the key
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return Key{}, errors.New("the private key is not for Ed25519")
	}
	return Key{private}, nil
}

// KeepKey reads the key in a file, which it makes with a new key if it is missing.
func KeepKey(path string) (Key, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if text, err = newKey(); err == nil {
			// Written atomically: half a key would stop every later start.
			err = renameio.WriteFile(path, text, 0o600, renameio.WithTempDir(filepath.Dir(path)))
		}
	}
	if err != nil {
		return Key{}, fmt.Errorf("the site's signing key: %w", err)
	}
	key, err := ReadKey(text)
	if err != nil {
		return Key{}, fmt.Errorf("the site's signing key %s: %w", path, err)
	}
	return key, nil
}

func newKey() ([]byte, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// Public is what may be published of the key.
func (k Key) Public(since time.Time) (PublicKey, error) {
	der, err := x509.MarshalPKIXPublicKey(k.private.Public())
	if err != nil {
		return PublicKey{}, fmt.Errorf("describe the signing key: %w", err)
	}
	return PublicKey{ID: keyID(der), PEM: string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), Since: since}, nil
}

func keyID(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// verifier is a published key for dsse; its id is computed from the key, not taken from the file.
type verifier struct {
	id  string
	key ed25519.PublicKey
}

func (p PublicKey) verifier() (verifier, error) {
	block, _ := pem.Decode([]byte(p.PEM))
	if block == nil {
		return verifier{}, errors.New("a published key is not in PEM")
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return verifier{}, fmt.Errorf("a published key: %w", err)
	}
	key, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return verifier{}, errors.New("a published key is not for Ed25519")
	}
	return verifier{keyID(block.Bytes), key}, nil
}

func (v verifier) KeyID() (string, error) { return v.id, nil }

func (v verifier) Public() crypto.PublicKey { return v.key }

func (v verifier) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(v.key, data, sig) {
		return errors.New("the signature is not this key's")
	}
	return nil
}

// signer is the private key for dsse.
type signer struct {
	id  string
	key ed25519.PrivateKey
}

func (s signer) KeyID() (string, error) { return s.id, nil }

func (s signer) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(s.key, data), nil
}
