// Package likeness finds submissions of different people to a task that share much source, as hints for its reviewers.
// A hint is no verdict: people share teams, teachers, and public kernels.
package likeness

import (
	"context"
	"fmt"
	"slices"
	"time"

	"warpboard/internal/cache"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/tasks"
)

const (
	// maxSources limits the compared sources to the best entries of each board.
	maxSources = 200
	// maxPeoplePerFingerprint limits the people who may share a fingerprint that counts. A fingerprint that more people
	// share is an idiom or comes from a public kernel.
	maxPeoplePerFingerprint = 8
	// minSharedFingerprints and minSharedPercent are the thresholds of a hint: the number of shared fingerprints (each
	// covers about 60 tokens), and their share of the shorter source.
	minSharedFingerprints, minSharedPercent = 10, 40
	// maxSourceBytes limits the part of a submission that is read, over all its files. Comparing two hundred
	// submissions takes a second.
	maxSourceBytes = 64 << 10
	// maxCachedFingerprints limits the number of cached fingerprints (32 MiB).
	maxCachedFingerprints = 4 << 20
	// maxPairs limits the pairs in a result.
	maxPairs = 50
)

// Likeness compares sources in one database.
type Likeness struct {
	db               *db.DB
	hasher           Hasher
	fingerprintCache *cache.Cache[string, Fingerprints] // by the source's hash
}

// New returns a Likeness for a database.
func New(database *db.DB) *Likeness {
	return &Likeness{
		db:               database,
		hasher:           newHasher(),
		fingerprintCache: cache.New[string, Fingerprints](maxCachedFingerprints),
	}
}

// Source is a submission that has an entry on a board.
type Source struct {
	SubmissionID int64
	UserID       int64
	UserName     string
	TeamID       int64 // 0 for none
	RunID        int64 // the submission's run on one of the boards
	CreatedAt    time.Time
	SourceHash   string
}

// SimilarPair has two similar sources, the earlier one first.
type SimilarPair struct {
	FirstSource, SecondSource Source
	SharedPercent             int // shared part of the shorter source, without the task's own texts
	SameTeam                  bool
}

// LikenessResult is the result of FindSimilarPairs: similar pairs, and the number of compared sources.
type LikenessResult struct {
	Pairs         []SimilarPair // the most similar first
	ComparedCount int           // number of compared sources
}

// FindSimilarPairs compares the sources of the entries on a task's boards. The actor must be allowed to review the
// task's runs.
func (l *Likeness) FindSimilarPairs(
	ctx context.Context, actor accounts.User, task catalog.Task, given *tasks.Bundle,
) (LikenessResult, error) {
	if err := actor.CheckPermission(accounts.ReviewRun, accounts.OwnerIDs{AuthorID: task.OwnerID}); err != nil {
		return LikenessResult{}, err
	}
	sources, err := l.readSources(ctx, task.VersionID)
	if err != nil {
		return LikenessResult{}, err
	}
	byHash, err := l.cachedFingerprints(ctx, sources, l.taskFingerprints(given))
	if err != nil {
		return LikenessResult{}, err
	}
	prints := make([]Fingerprints, len(sources))
	for i, source := range sources {
		prints[i] = byHash[source.SourceHash]
	}
	return LikenessResult{Pairs: similarPairs(sources, prints), ComparedCount: len(sources)}, nil
}

// readSources returns the submissions with entries on a version's boards, without duplicates.
func (l *Likeness) readSources(ctx context.Context, versionID int64) (list []Source, err error) {
	err = l.db.Read(ctx).Raw(`select s.id as submission_id, s.user_id, u.name as user_name, coalesce(m.team_id, 0) as team_id, e.run_id, s.created_at, s.source_hash
		from (select submission_id, min(run_id) as run_id, min(score_ns) as score_ns from entries where version_id = ? group by submission_id order by 3 limit ?) e
		join submissions s on s.id = e.submission_id join users u on u.id = s.user_id left join team_members m on m.user_id = s.user_id
		order by s.id`, versionID, maxSources).Scan(&list).Error
	return list, db.ReadError(err, "sources of a task's boards")
}

// cachedFingerprints returns the fingerprints of sources by hash, and computes those that are not cached. It reads one
// source at a time to limit memory.
func (l *Likeness) cachedFingerprints(
	ctx context.Context, sources []Source, without Fingerprints,
) (map[string]Fingerprints, error) {
	prints := map[string]Fingerprints{}
	var hashes []string
	for _, source := range sources {
		if kept, ok := l.fingerprintCache.Get(source.SourceHash); ok {
			prints[source.SourceHash] = kept.Subtract(without)
		} else {
			hashes = append(hashes, source.SourceHash)
		}
	}
	if len(hashes) == 0 {
		return prints, nil
	}
	rows, err := l.db.Read(ctx).Model(&catalog.Blob{}).Select("hash, data").Where("hash in ?", hashes).Rows()
	if err != nil {
		return nil, db.ReadError(err, "sources of a task's boards")
	}
	defer rows.Close()
	for rows.Next() {
		var hash string
		var data []byte
		if err := rows.Scan(&hash, &data); err != nil {
			return nil, fmt.Errorf("reading a source: %w", err)
		}
		submitted, err := tasks.UnpackSubmission(data)
		if err != nil {
			return nil, fmt.Errorf("reading the source %s: %w", hash, err)
		}
		all := l.sourceFingerprints(submitted)
		l.fingerprintCache.Put(hash, all, int64(1+len(all)))
		prints[hash] = all.Subtract(without)
	}
	return prints, db.ReadError(rows.Err(), "sources of a task's boards")
}

func (l *Likeness) sourceFingerprints(s tasks.Submission) Fingerprints {
	left := maxSourceBytes
	of := func(text []byte) Fingerprints {
		n := min(len(text), left)
		left -= n
		return l.hasher.FingerprintsOf(text[:n])
	}
	all := []Fingerprints{of(s.Source)}
	for _, name := range s.Names() {
		all = append(all, of(s.Files[name]))
	}
	return unionOfFingerprints(all...)
}

// taskFingerprints returns the fingerprints of the texts that everyone may copy: the task's files, templates, and
// references.
func (l *Likeness) taskFingerprints(given *tasks.Bundle) Fingerprints {
	var all []Fingerprints
	for _, file := range given.Files {
		all = append(all, l.hasher.FingerprintsOf(file))
	}
	return unionOfFingerprints(all...)
}

func similarPairs(sources []Source, prints []Fingerprints) (list []SimilarPair) {
	for _, pair := range pairsWithSharedFingerprints(prints, maxPeoplePerFingerprint) {
		a, b := sources[pair.FirstIndex], sources[pair.SecondIndex]
		percent := 100 * pair.SharedCount / max(min(len(prints[pair.FirstIndex]), len(prints[pair.SecondIndex])), 1)
		if a.UserID == b.UserID || pair.SharedCount < minSharedFingerprints || percent < minSharedPercent {
			continue
		}
		list = append(list, SimilarPair{
			FirstSource:   a,
			SecondSource:  b,
			SharedPercent: percent,
			SameTeam:      a.TeamID != 0 && a.TeamID == b.TeamID,
		})
	}
	slices.SortStableFunc(list, func(a, b SimilarPair) int { return b.SharedPercent - a.SharedPercent })
	return list[:min(len(list), maxPairs)]
}
