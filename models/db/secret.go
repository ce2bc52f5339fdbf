package db

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// NewSecret returns 256 random bits as text. The database stores only their hash.
func NewSecret() string {
	var b [32]byte
	rand.Read(b[:]) // rand.Read never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// HashSecret returns the hash of a secret. It needs no salt and no slow hash, because secrets are random.
func HashSecret(secret string) string { return Hash([]byte(secret)) }

func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
