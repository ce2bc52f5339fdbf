package models

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sync/semaphore"

	"warpboard/internal/cache"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/comments"
	"warpboard/models/db"
	"warpboard/models/epochs"
	"warpboard/models/events"
	"warpboard/models/files"
	"warpboard/models/fleet"
	"warpboard/models/inbox"
	"warpboard/models/likeness"
	"warpboard/models/membership"
	"warpboard/models/quota"
	"warpboard/models/review"
	"warpboard/models/scores"
	"warpboard/models/submissions"
	"warpboard/models/switches"
	"warpboard/models/webhooks"
	"warpboard/models/work"
)

// Config has the settings of a store, and where it stores its data.
type Config struct {
	// Dir is the data directory with the SQLite file and the artifacts. It is created if missing.
	Dir string
	// MinFreeBytes is the free disk space in bytes below which new submissions and uploads are refused; 0 means no
	// limit.
	MinFreeBytes int64
	// ArtifactLocation is another folder for artifacts, or the URL of an S3 bucket; see files.Open.
	ArtifactLocation string
	// DSN is a postgres:// URL; empty means SQLite in Dir.
	DSN string
	// SubmissionLimits limits each person's submissions; the zero value means no limit.
	SubmissionLimits submissions.SubmissionLimits
	// ConfirmFirstPlaces turns confirmations on: a new 1st place of a board is measured again, alternately with the
	// next person's run.
	ConfirmFirstPlaces bool
	// NoBaselines turns off runs of tasks' baselines.
	NoBaselines bool
	// SiteURL is the URL of the site, for statements.
	SiteURL string
	// SendMails turns on e-mails about notices for people who chose them.
	SendMails bool
	// Webhooks lists the private networks that webhooks may reach.
	Webhooks webhooks.AllowedNetworks
	// Now is the clock that determines the days of budgets; nil means the machine's.
	Now func() time.Time
	// Log receives warnings and errors; nil discards them.
	Log *slog.Logger
}

// Store is the database and the services that use it, one per field. Functions that need several services are methods
// of Store: confirmations, moderation, notes, and the consequences of a run's end. It is safe for concurrent use.
type Store struct {
	Accounts           *accounts.Accounts
	Fleet              *fleet.Fleet
	Members            *membership.Memberships
	Catalog            *catalog.Catalog
	Boards             *boards.Boards
	Comments           *comments.Comments
	Counters           *work.Counters
	Epochs             *epochs.Epochs
	Events             *events.Events
	Inbox              *inbox.Inbox
	Likeness           *likeness.Likeness
	Scores             *scores.Scores
	Validations        *review.Validations
	Quotas             *quota.Quotas
	Switches           *switches.Switches
	Webhooks           *webhooks.Webhooks
	Work               *work.LifeCycle
	Submissions        *submissions.Submissions
	Disk               files.SpaceMonitor // disk of the data directory
	standingsCache     *cache.Cache[[sha256.Size]byte, events.Standings]
	pastStandingsCache *cache.Cache[[sha256.Size]byte, events.Standings] // standings of past times
	// pastStandingsPermits allows one goroutine at a time to compute the standings of a past time.
	pastStandingsPermits *semaphore.Weighted
	suitePermits         *semaphore.Weighted // limits the suites computed at a time to one per core
	db                   *db.DB
	files                files.Files
	submissionLimits     submissions.SubmissionLimits
	confirmationsOn      bool
	noBaselines          bool
	siteURL              string
}

// Open connects to the database, migrates its schema, and returns the store. On a large database the first start after
// an update may take long; other processes of the site wait (package migrations).
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Dir == "" {
		return nil, errors.New("opening the store: no data directory given")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the data directory: %w", err)
	}
	artifacts, err := files.Open(cmp.Or(cfg.ArtifactLocation, filepath.Join(cfg.Dir, "artifacts")), cfg.MinFreeBytes)
	if err != nil {
		return nil, err
	}
	database, applied, err := db.Open(ctx, cfg.Dir, cfg.DSN)
	if err != nil {
		return nil, err
	}
	if cfg.Now != nil {
		database.SetClock(cfg.Now)
	}
	if applied > 0 {
		cfg.Log.Info("database migrated", "dialect", database.Dialect(), "files", applied)
	}
	// If the process stops between a migration and rebuildIfRequested, the next start repeats the rebuild: the request
	// is a setting, which the rebuild deletes in its own transaction.
	s := newStore(database, artifacts, cfg)
	if err := s.rebuildIfRequested(ctx, cfg.Log); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func newStore(database *db.DB, artifacts files.Files, cfg Config) *Store {
	workers := fleet.New(database)
	s := &Store{
		Accounts: accounts.New(database),
		Boards:   boards.New(database),
		Catalog:  catalog.New(database),
		Comments: comments.New(database, comments.Hooks{
			OnAdded:           announceComment,
			OnRemovedOrHidden: inbox.RemoveCommentNotices,
		}),
		Counters:             work.NewCounters(database),
		Epochs:               epochs.New(database),
		Events:               events.New(database),
		Fleet:                workers,
		Inbox:                inbox.New(database, cfg.SiteURL, cfg.SendMails),
		Likeness:             likeness.New(database),
		Members:              membership.New(database),
		Quotas:               quota.New(database),
		Switches:             switches.New(database),
		Submissions:          submissions.New(database, cfg.SubmissionLimits),
		Validations:          review.NewValidations(database),
		Disk:                 files.SpaceMonitor{Dir: cfg.Dir, MinFreeBytes: cfg.MinFreeBytes},
		standingsCache:       cache.New[[sha256.Size]byte, events.Standings](maxStandingsBytes),
		pastStandingsCache:   cache.New[[sha256.Size]byte, events.Standings](maxPastStandingsBytes),
		pastStandingsPermits: semaphore.NewWeighted(1),
		suitePermits:         semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0))),
		db:                   database, files: artifacts, submissionLimits: cfg.SubmissionLimits, confirmationsOn: cfg.ConfirmFirstPlaces, noBaselines: cfg.NoBaselines, siteURL: cfg.SiteURL,
	}
	// The services and the consequences reference each other through the store. No consequence may be called before
	// this line.
	s.Webhooks = webhooks.New(database, cfg.SiteURL, cfg.Webhooks, webhooks.Callbacks{
		CanSeeRun:     canSeeRun,
		OutcomeFor:    webhookOutcome,
		NotifyInboxes: s.notifyInboxes,
	})
	s.Work = work.New(database, artifacts, s.Disk, workers, runConsequences{s})
	s.Scores = scores.New(database, s.Work, s.Catalog, workers, cfg.Log)
	return s
}

// rebuildIfRequested reads the open events, and rebuilds scores and boards if a migration requested that.
func (s *Store) rebuildIfRequested(ctx context.Context, log *slog.Logger) error {
	if err := s.Events.ReadOpenEvents(ctx); err != nil {
		return err
	}
	why, err := s.Setting(ctx, boards.RebuildSettingKey)
	if why == "" || err != nil {
		return err
	}
	log.Info("scores and boards are rebuilt", "why", why)
	return s.RebuildScores(ctx)
}

// Close closes all connections.
func (s *Store) Close() error { return s.db.Close() }

// Dialect returns migrations.SQLite or migrations.Postgres.
func (s *Store) Dialect() string { return s.db.Dialect() }

// SQL returns the pool that may write, for health checks and bulk loading. On PostgreSQL its statements do not take the
// lock of db.Write, so use it for writing only while nothing else uses the database.
func (s *Store) SQL() *sql.DB { return s.db.SQL() }

// Ping returns an error if the database cannot be read.
func (s *Store) Ping(ctx context.Context) error { return s.db.Ping(ctx) }

// QueryCount returns the number of SQL statements sent to the database since it was opened.
func (s *Store) QueryCount() int64 { return s.db.QueryCount() }

// Setting returns the value of a key, or "".
func (s *Store) Setting(ctx context.Context, key string) (string, error) {
	return s.db.Setting(ctx, key)
}

// SetSetting stores a value under key.
func (s *Store) SetSetting(ctx context.Context, key, value string) error {
	return s.db.SetSetting(ctx, key, value)
}

// CanWrite returns an error if the database does not accept writes at this moment. Like every write it waits for its
// turn. A ping is not enough: SQLite on a full disk, or PostgreSQL after a failover to a standby, can still be read.
func (s *Store) CanWrite(ctx context.Context) error {
	if err := s.SetSetting(ctx, "dispatcher.wrote", db.Now().Format(time.RFC3339)); err != nil {
		return fmt.Errorf("trying to write: %w", err)
	}
	return nil
}
