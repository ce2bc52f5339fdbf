package statement

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
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
	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// names by which other programs recognize the format
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "urn:warpboard:result:v1"
	PayloadType   = "application/vnd.in-toto+json"
)

// PublicKeysPath is the path at which a site publishes its keys.
const PublicKeysPath = "/.well-known/warpboard-key.json"

// Statement is an in-toto statement whose subjects are the source and the task.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Result        Result    `json:"predicate"`
}

// Subject identifies a file, or several files packed as one text, by the hash of its content.
type Subject struct {
	Name   string `json:"name"`
	Digest Digest `json:"digest"`
}

// Digest is a SHA-256 hash, in hex.
type Digest struct {
	SHA256 string `json:"sha256"`
}

// Result is the measurement of one ranked run. It has no name of a person, and of the source only the hash.
type Result struct {
	Site        string    `json:"site"` // address of the site
	Run         int64     `json:"run"`
	Submission  int64     `json:"submission"`
	RepeatedRun *int64    `json:"follows,omitempty"` // run that this one measured again
	MeasuredAt  time.Time `json:"measured"`
	Task        Task      `json:"task"`
	Harness     Harness   `json:"harness"`
	// device, driver, compilers, and the conditions during the measurement
	Machine          job.Machine       `json:"machine"`
	Seeds            InputSeeds        `json:"seeds"`
	CaseMeasurements []CaseMeasurement `json:"samples"`
	Score            Score             `json:"score"` // score of these measurements only, without other runs
}

// Task is the measured task. Its digest covers everything on which a score depends.
type Task struct {
	Slug    string        `json:"slug"`
	Version int           `json:"version"`
	Ranking tasks.Ranking `json:"ranking"`
}

// Harness is the program that measured; machine.harness has its hash. If the task has its own harness, the
// digest of the task includes that.
type Harness struct {
	Name string `json:"name"`
}

// InputSeeds has the seeds of the inputs that the site stores after a run.
type InputSeeds struct {
	PublicSeed *uint64 `json:"public,omitempty,string"` // set by the task
	SecretSeed *uint64 `json:"secret,omitempty,string"` // of the second pass of a task's own program
	Note       string  `json:"note"`
}

// CaseMeasurement is the measurement of one case; times are in nanoseconds.
type CaseMeasurement struct {
	Case string `json:"case"`
	// clock that measured the times; "" if the task's own harness measured them
	Clock job.Clock `json:"clock,omitempty"`
	// median of each process in nanoseconds; empty if only one process measured
	ProcessMedians    []float64 `json:"processes"`
	Time              float64   `json:"time"` // time that counts for the score
	CallCount         int       `json:"calls"`
	StandardDeviation float64   `json:"std"`
}

// Score is computed from the samples; times are in nanoseconds.
type Score struct {
	NS                 float64  `json:"ns"`
	Low                *float64 `json:"low"` // lower end of the 95 % interval; null if there is none
	High               *float64 `json:"high"`
	ProcessCount       int      `json:"processes"`
	IsNoisy            bool     `json:"noisy"`
	DisturbanceReasons []string `json:"disturbed,omitempty"` // reasons from the machine's record
}

// New returns a statement about a source and a task; both parameters are digests.
func New(source, task string, r Result) Statement {
	return Statement{Type: StatementType, PredicateType: PredicateType, Result: r,
		Subject: []Subject{{"source", Digest{source}}, {"task", Digest{task}}}}
}

// SigningKey is a private key. The zero value cannot sign.
type SigningKey struct{ privateKey ed25519.PrivateKey }

// PublicKey is a current or former key of a site.
type PublicKey struct {
	ID         string    `json:"id"`         // SHA-256 of its DER form, in hex
	PEM        string    `json:"public_key"` // Ed25519, in openssl's format
	ValidSince time.Time `json:"since"`
}

// PublicKeyList are published at PublicKeysPath: first the current key, then former ones, whose signatures stay valid.
type PublicKeyList struct {
	PublicKeys []PublicKey `json:"keys"`
}

// ReadKey parses a private key in the format of `openssl genpkey -algorithm ed25519`.
func ReadKey(text []byte) (SigningKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return SigningKey{}, errors.New("want a private key in PEM, as `openssl genpkey -algorithm ed25519` writes it")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return SigningKey{}, errors.New("the PEM holds no private key in PKCS #8") // the parser's error may quote the key
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return SigningKey{}, errors.New("the private key is not for Ed25519")
	}
	return SigningKey{private}, nil
}

// ReadOrCreateKey reads a key from a file. If the file does not exist, it creates a key and writes it.
func ReadOrCreateKey(path string) (SigningKey, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if text, err = newKey(); err == nil {
			// The file is written atomically, because an incomplete key would prevent every later start.
			err = renameio.WriteFile(path, text, 0o600, renameio.WithTempDir(filepath.Dir(path)))
		}
	}
	if err != nil {
		return SigningKey{}, fmt.Errorf("the site's signing key: %w", err)
	}
	key, err := ReadKey(text)
	if err != nil {
		return SigningKey{}, fmt.Errorf("the site's signing key %s: %w", path, err)
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

// Public returns the public part of the key.
func (k SigningKey) Public(since time.Time) (PublicKey, error) {
	der, err := x509.MarshalPKIXPublicKey(k.privateKey.Public())
	if err != nil {
		return PublicKey{}, fmt.Errorf("describe the signing key: %w", err)
	}
	id := sha256.Sum256(der)
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return PublicKey{ID: hex.EncodeToString(id[:]), PEM: string(text), ValidSince: since}, nil
}

// Sign returns a DSSE envelope with a statement and its signature. It returns an error for the zero SigningKey.
func (k SigningKey) Sign(s Statement) (e dsse.Envelope, err error) {
	if k.privateKey == nil {
		return e, errors.New("there is no key to sign with")
	}
	payload, err := json.Marshal(s)
	if err != nil {
		return e, fmt.Errorf("write the statement of run %d: %w", s.Result.Run, err)
	}
	public, err := k.Public(time.Time{})
	if err != nil {
		return e, err
	}
	signature := ed25519.Sign(k.privateKey, dsse.PAE(PayloadType, payload))
	return dsse.Envelope{PayloadType: PayloadType, Payload: base64.StdEncoding.EncodeToString(payload),
		Signatures: []dsse.Signature{{KeyID: public.ID, Sig: base64.StdEncoding.EncodeToString(signature)}}}, nil
}
