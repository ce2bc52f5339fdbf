package statement_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/internal/statement"
	"warpboard/tasks"
)

func key(t *testing.T) (statement.Key, statement.Keys) {
	t.Helper()
	key, err := statement.KeepKey(filepath.Join(t.TempDir(), "signing.key"))
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.Public(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return key, statement.Keys{Keys: []statement.PublicKey{public}}
}

func stated(number int64, previous string) statement.Statement {
	low, high := 99.0, 101.0
	return statement.New("aa", "bb", statement.Result{
		Site: "http://site", Run: number, Chain: statement.Link{Number: number, Previous: previous},
		Task:    statement.Task{Slug: "sort", Version: 1, Ranking: tasks.RankLast},
		Samples: []statement.Sample{{Case: "n: 8", Clock: job.ClockEvent, Processes: []float64{100, 100, 100}, Time: 100, Calls: 30}},
		Score:   statement.Score{NS: 100, Low: &low, High: &high, Processes: 3},
	})
}

func sign(t *testing.T, key statement.Key, s statement.Statement) (line []byte, payload []byte) {
	t.Helper()
	payload, err := s.Payload()
	if err != nil {
		t.Fatal(err)
	}
	e, err := key.Sign(t.Context(), payload)
	if err != nil {
		t.Fatal(err)
	}
	line, err = json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return line, payload
}

func TestWhatWasSignedIsVerifiedAndNothingElse(t *testing.T) {
	own, keys := key(t)
	_, others := key(t)
	line, payload := sign(t, own, stated(1, ""))
	e, err := statement.ReadEnvelope(line)
	if err != nil {
		t.Fatal(err)
	}
	s, got, id, err := keys.Verify(t.Context(), e)
	if err != nil || !bytes.Equal(got, payload) || id != keys.Keys[0].ID || s.Source() != "aa" || s.TaskDigest() != "bb" {
		t.Fatalf("%+v of key %s, %v", s, id, err)
	}
	rotated := statement.Keys{Keys: append(others.Keys, keys.Keys...)}
	if _, _, _, err := rotated.Verify(t.Context(), e); err != nil {
		t.Errorf("an older key's signature: %v", err)
	}
	if _, _, _, err := others.Verify(t.Context(), e); err == nil {
		t.Error("another site's key verified it")
	}
	// A site that publishes its key under another's id gains nothing.
	posed := others.Keys[0]
	posed.ID = keys.Keys[0].ID
	if _, _, _, err := (statement.Keys{Keys: []statement.PublicKey{posed}}).Verify(t.Context(), e); err == nil {
		t.Error("a key under another's id verified it")
	}
	forged, _ := sign(t, own, stated(1, ""))
	changed := *e
	changed.Payload = strings.Replace(changed.Payload, "A", "B", 1)
	if _, _, _, err := keys.Verify(t.Context(), &changed); err == nil {
		t.Error("a changed payload was verified")
	}
	if !bytes.Equal(forged, line) {
		t.Error("the same statement gives another envelope")
	}
	if _, _, _, err := (statement.Keys{}).Verify(t.Context(), e); err == nil {
		t.Error("no key verified it")
	}
	if _, err := (statement.Key{}).Sign(t.Context(), payload); err == nil {
		t.Error("no key signed it")
	}
}

func TestAChainShowsWhatWasLeftOutOrChanged(t *testing.T) {
	own, keys := key(t)
	var lines [][]byte
	previous := ""
	for n := int64(1); n <= 4; n++ {
		line, payload := sign(t, own, stated(n, previous))
		lines, previous = append(lines, line), statement.Hash(payload)
	}
	other, _ := sign(t, own, func() statement.Statement { // signed by the site, and rewritten
		s := stated(2, statement.Hash([]byte("nothing")))
		return s
	}())
	stranger, _ := key(t)
	foreign, _ := sign(t, stranger, stated(5, previous))
	for name, test := range map[string]struct {
		lines [][]byte
		want  string // in the error; empty: it is whole
	}{
		"whole":          {lines, ""},
		"a later part":   {lines[2:], ""},
		"one left out":   {[][]byte{lines[0], lines[2]}, "statement 3 follows statement 1"},
		"out of order":   {[][]byte{lines[1], lines[0]}, "statement 1 follows statement 2"},
		"one changed":    {[][]byte{lines[0], other, lines[2]}, "does not follow this statement 1"},
		"one by another": {append(lines[:4:4], foreign), "line 5: no signature"},
		"not a chain":    {[][]byte{[]byte("{")}, "line 1"},
	} {
		found, err := keys.CheckChain(t.Context(), bytes.NewReader(bytes.Join(test.lines, []byte("\n"))))
		switch {
		case test.want == "" && (err != nil || found.Last != 4 || found.Head != previous):
			t.Errorf("%s: %+v, %v", name, found, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v, want %q in it", name, err, test.want)
		}
	}
}

func TestAScoreThatDoesNotFollowFromItsSamplesIsFound(t *testing.T) {
	s := stated(1, "").Result
	s.Score.Low, s.Score.High = nil, nil
	if err := s.Check(); err == nil {
		t.Error("an interval was left out")
	}
	exact := 100.0
	s.Score.Low, s.Score.High = &exact, &exact
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	s.Score.NS = 99
	if err := s.Check(); err == nil || !strings.Contains(err.Error(), "give a score of 100 ns") {
		t.Errorf("a better score: %v", err)
	}
	s.Score.NS, s.Samples[0].Processes = 100, []float64{100, 100, 0}
	if err := s.Check(); err == nil {
		t.Error("a process without a time")
	}
}

func TestScoresAgreeIfIntervalsTouchOrHalfAPercentApart(t *testing.T) {
	score := func(ns, low, high float64) statement.Score { return statement.Score{NS: ns, Low: &low, High: &high} }
	for _, test := range []struct {
		a, b statement.Score
		want bool
	}{
		{score(100, 98, 102), score(103, 101, 105), true},
		{score(100, 99, 101), score(110, 109, 111), false},
		{score(100, 100, 100), score(100.4, 100.4, 100.4), true},
		{statement.Score{NS: 100}, score(110, 90, 120), true},
		{statement.Score{NS: 100}, statement.Score{NS: 102}, false},
	} {
		if test.a.Agrees(test.b) != test.want || test.b.Agrees(test.a) != test.want {
			t.Errorf("%+v and %+v: want %v", test.a, test.b, test.want)
		}
	}
}

func TestSeedsAreRevealedWhereOneIsKept(t *testing.T) {
	public := int64(7)
	judged, own := statement.SeedsOf(false, nil, 99), statement.SeedsOf(true, &public, 1<<63)
	if judged.Public != nil || judged.Secret != nil || own.Secret == nil || *own.Secret != 1<<63 || *own.Public != 7 {
		t.Errorf("%+v and %+v", judged, own)
	}
	text, err := json.Marshal(own)
	if err != nil || !strings.Contains(string(text), `"secret":"9223372036854775808"`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestTheKeyStaysAndOnlyItsOwnerReadsIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "signing.key")
	var public [2]statement.PublicKey
	for i := range public {
		key, err := statement.KeepKey(path)
		if err == nil {
			public[i], err = key.Public(time.Time{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(public[0], public[1]); diff != "" {
		t.Error(diff)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(path, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := statement.KeepKey(path); err == nil || strings.Contains(err.Error(), "no key") {
		t.Errorf("a damaged key: %v", err)
	}
}
