package statement

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// The names by which other programs know the format.
const (
	Type          = "https://in-toto.io/Statement/v1"
	PredicateType = "urn:warpboard:result:v1"
	PayloadType   = "application/vnd.in-toto+json"
)

// Statement is an in-toto statement: its subjects are the source and the task, and Result says what came of them.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Result        Result    `json:"predicate"`
}

// Subject is a thing by its content.
type Subject struct {
	Name   string `json:"name"`
	Digest Digest `json:"digest"`
}

// Digest is the SHA-256 of a content, in hex.
type Digest struct {
	SHA256 string `json:"sha256"`
}

// Result is the measurement of one ranked run. It names no person, and has only the hash of the source.
type Result struct {
	Site       string      `json:"site"` // address of the site that says so
	Run        int64       `json:"run"`
	Submission int64       `json:"submission"`
	Follows    *int64      `json:"follows,omitempty"` // the run that this one measured again, to confirm it
	Measured   time.Time   `json:"measured"`
	Chain      Link        `json:"chain"`
	Task       Task        `json:"task"`
	Harness    Harness     `json:"harness"`
	Machine    job.Machine `json:"machine"` // silicon, driver, compilers, and the conditions while it was measured
	Seeds      Seeds       `json:"seeds"`
	Samples    []Sample    `json:"samples"`
	Score      Score       `json:"score"`
}

// Link ties a statement to the one before it.
type Link struct {
	Number   int64  `json:"number"`   // 1, 2, …
	Previous string `json:"previous"` // SHA-256 of the payload before it, in hex; empty for the first
}

// Task is the task of the score. Its digest covers everything that a score depends on.
type Task struct {
	Slug    string        `json:"slug"`
	Version int           `json:"version"`
	Ranking tasks.Ranking `json:"ranking"`
}

// Harness is the program that measured. A task's own is part of the task's digest.
type Harness struct {
	Name   string `json:"name"`
	Digest Digest `json:"digest,omitzero"`
}

// Seeds are those that are known once the run is over.
type Seeds struct {
	Public *uint64 `json:"public,omitempty,string"` // the task names it
	Secret *uint64 `json:"secret,omitempty,string"` // a task's own program had its second pass with it
	Note   string  `json:"note"`
}

// Sample is what was measured of one case, in nanoseconds.
type Sample struct {
	Case      string    `json:"case"`
	Clock     job.Clock `json:"clock,omitempty"` // by which of the judge's clocks; empty: the case's own program took the time
	Processes []float64 `json:"processes"`       // medians, one per fresh process; none where one process measured
	Time      float64   `json:"time"`            // that counts
	Calls     int       `json:"calls"`
	Std       float64   `json:"std"`
}

// Score is what the samples come to, in nanoseconds.
type Score struct {
	NS        float64  `json:"ns"`
	Low       *float64 `json:"low"` // of the 95 % interval; null without one
	High      *float64 `json:"high"`
	Processes int      `json:"processes"`
	Noisy     bool     `json:"noisy"`
	Disturbed []string `json:"disturbed,omitempty"` // why the conditions were bad, from the machine's record
}

// Source is the digest of what was submitted.
func (s Statement) Source() string { return s.digestOf("source") }

// TaskDigest is the digest of the task.
func (s Statement) TaskDigest() string { return s.digestOf("task") }

func (s Statement) digestOf(name string) string {
	for _, subject := range s.Subject {
		if subject.Name == name {
			return subject.Digest.SHA256
		}
	}
	return ""
}

// New makes a statement of a result about a source and a task, given by their digests.
func New(source, task string, r Result) Statement {
	return Statement{Type: Type, PredicateType: PredicateType, Result: r,
		Subject: []Subject{{"source", Digest{source}}, {"task", Digest{task}}}}
}

// Payload is the text that is kept, hashed and signed.
func (s Statement) Payload() ([]byte, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write the statement of run %d: %w", s.Result.Run, err)
	}
	return text, nil
}

// Read reads a payload that Payload wrote.
func Read(payload []byte) (Statement, error) {
	var s Statement
	if err := json.Unmarshal(payload, &s); err != nil {
		return s, fmt.Errorf("read the statement: %w", err)
	}
	if s.Type != Type || s.PredicateType != PredicateType {
		return s, fmt.Errorf("this is %q about %q, not a result of Warpboard (%s)", s.Type, s.PredicateType, PredicateType)
	}
	return s, nil
}

// Hash is how the next statement names a payload.
func Hash(payload []byte) string {
	sum := sha256.Sum256(payload)
	return hex.EncodeToString(sum[:])
}
