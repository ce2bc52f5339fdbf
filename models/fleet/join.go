package fleet

import (
	"context"
	"errors"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
)

const (
	joinTokenPrefix = "wbj_"
	// maxWorkersPerToken limits the workers that one token may admit at a time.
	maxWorkersPerToken = 10_000
)

// JoinToken admits workers without a credential. Each gets its own credential, which is valid until the worker leaves.
type JoinToken struct {
	ID         int64
	Name       string // purpose of the token
	SecretHash string
	Devices    []string `gorm:"serializer:json"`
	MaxWorkers int      `gorm:"column:most"` // limit of workers at a time
	CreatedBy  int64
	CreatedAt  time.Time
	ExpiresAt  time.Time // no one joins later; joined workers stay
	RevokedAt  *time.Time
}

// NewJoinToken describes a join token to create.
type NewJoinToken struct {
	Name       string
	Devices    []string
	MaxWorkers int
	Lifetime   time.Duration
}

func (n NewJoinToken) check() error {
	switch {
	case !db.IsValidName(n.Name):
		return db.Errorf(db.Invalid, "%q is not a valid name of a token: use letters, digits, '.', '_' and '-', at most 40.", n.Name)
	case n.MaxWorkers < 1 || n.MaxWorkers > maxWorkersPerToken:
		return db.Errorf(db.Invalid, "A token can admit 1 to %d workers at a time, not %d.", maxWorkersPerToken, n.MaxWorkers)
	case n.Lifetime < time.Minute || n.Lifetime > 366*24*time.Hour:
		return db.Errorf(db.Invalid, "A token is valid for a minute to a year.")
	}
	return checkDevices(n.Devices)
}

// CreateJoinToken creates a join token and returns its secret, of which only a hash is stored. Only admins may call it.
func (s *Fleet) CreateJoinToken(
	ctx context.Context, actor accounts.User, n NewJoinToken,
) (secret string, token JoinToken, err error) {
	if err := errors.Join(actor.CheckPermission(accounts.ManageWorkers, accounts.OwnerIDs{})); err != nil {
		return "", token, err
	}
	if err := n.check(); err != nil {
		return "", token, err
	}
	secret = joinTokenPrefix + db.NewSecret()
	token = JoinToken{
		Name: n.Name, SecretHash: db.HashSecret(secret), Devices: n.Devices, MaxWorkers: n.MaxWorkers,
		CreatedBy: actor.ID, CreatedAt: db.Now(),
	}
	token.ExpiresAt = db.NormalizeTime(token.CreatedAt.Add(n.Lifetime))
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Create(&token).Error; err != nil {
			return db.WriteError(err, "join token")
		}
		return accounts.WriteAudit(tx, actor, "create join token", "join token "+n.Name, strings.Join(n.Devices, " "))
	})
	return secret, token, err
}

// JoinTokenWithWorkers is a join token with the number of its connected workers.
type JoinTokenWithWorkers struct {
	JoinToken
	ConnectedWorkers int `gorm:"column:workers"`
}

// JoinTokens lists the join tokens, newest first.
func (s *Fleet) JoinTokens(ctx context.Context) (list []JoinTokenWithWorkers, err error) {
	err = s.db.Read(ctx).Table("join_tokens t").
		Select("t.*, (select count(*) from worker_credentials c where c.join_id = t.id and c.revoked_at is null) as workers").
		Where("revoked_at is null and expires_at > ?", db.Now().Add(-guestRemovedAfter)).Order("id desc").Find(&list).Error
	return list, db.ReadError(err, "join tokens")
}

// RevokeJoinToken revokes a join token and the credentials of all workers that joined with it. It returns their names;
// the caller must disconnect them. Only admins may call it.
func (s *Fleet) RevokeJoinToken(ctx context.Context, actor accounts.User, id int64) (workers []string, err error) {
	if err := actor.CheckPermission(accounts.ManageWorkers, accounts.OwnerIDs{}); err != nil {
		return nil, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		var token JoinToken
		if err := tx.Where("id = ? and revoked_at is null", id).Take(&token).Error; err != nil {
			return db.ReadError(err, "join token %d", id)
		}
		if err := tx.Model(&token).Update("revoked_at", db.Now()).Error; err != nil {
			return db.WriteError(err, "join token %d", id)
		}
		joined := tx.Model(&WorkerCredential{}).Where("join_id = ? and revoked_at is null", id)
		if err := joined.Pluck("name", &workers).Error; err != nil {
			return db.ReadError(err, "workers of join token %d", id)
		}
		// The names include workers that have left, whose credentials are stored for a while.
		if err := blockResultSharing(tx, tx.Model(&WorkerCredential{}).Select("name").Where("join_id = ?",
			id)); err != nil {
			return err
		}
		err := tx.Model(&WorkerCredential{}).Where("join_id = ? and revoked_at is null", id).Update("revoked_at", db.Now()).Error
		return errors.Join(db.WriteError(err, "credentials of join token %d", id),
			accounts.WriteAudit(tx, actor, "revoke join token", "join token "+token.Name, strings.Join(workers, " ")))
	})
	return workers, err
}

// JoinSecret returns the secret that a joining worker presents: the join token, and a secret that the worker generated.
func JoinSecret(token, own string) string { return token + "." + own }

// createGuestCredential creates the credential of a worker that connects with a join token for the first time, and
// returns the worker's own secret. It returns "" (and so refuses the worker) if a known worker has the name or the
// token is invalid.
func (s *Fleet) createGuestCredential(ctx context.Context, name, secret string) (own string, err error) {
	token, own, _ := strings.Cut(secret, ".")
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := sweepRevokedGuestCredentials(tx.Where("name = ?", name), db.Now()); err != nil {
			return err
		}
		if known, err := isWorkerNameTaken(tx, name); err != nil || known {
			return err
		}
		var found JoinToken
		read := tx.Where("secret_hash = ? and revoked_at is null and expires_at > ?", db.HashSecret(token), db.Now()).Limit(1).Find(&found)
		if read.Error != nil || read.RowsAffected == 0 || len(own) < 16 || !db.IsValidName(name) {
			return db.ReadError(read.Error, "join token")
		}
		if here, err := countGuests(tx, found.ID, name); err != nil || here >= found.MaxWorkers {
			return err
		}
		return db.WriteError(tx.Create(&WorkerCredential{
			Name: name, SecretHash: db.HashSecret(own), Devices: found.Devices, CreatedBy: found.CreatedBy, CreatedAt: db.Now(), JoinTokenID: found.ID,
		}).Error, "credential of worker %s", name)
	})
	return own, err
}

// isWorkerNameTaken reports whether a name belongs to a credential, to the site's own worker, or to a worker that was
// seen. Case is ignored, because people identify workers by name.
func isWorkerNameTaken(tx *gorm.DB, name string) (known bool, err error) {
	err = tx.Raw(`select exists (select 1 from worker_credentials where lower(name) = lower(?))
		or exists (select 1 from settings where lower(key) = lower(?))
		or exists (select 1 from workers where not guest and lower(name) = lower(?))`, name, nameClaimKeyPrefix+name, name).Scan(&known).Error
	return known, db.ReadError(err, "whether the name of worker %s is taken", name)
}
