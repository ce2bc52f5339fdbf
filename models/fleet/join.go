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
	joinPrefix = "wbj_"
	// maxWorkersPerToken limits the number of workers that one token may let in at a time.
	maxWorkersPerToken = 10_000
)

// JoinToken admits workers without a known name. Each gets its own credential with it, which lasts until the worker
// leaves.
type JoinToken struct {
	ID         int64
	Name       string // its purpose
	SecretHash string
	Devices    []string `gorm:"serializer:json"`
	MaxWorkers int      `gorm:"column:most"` // limit of workers at a time
	CreatedBy  int64
	CreatedAt  time.Time
	ExpiresAt  time.Time // no one joins later; joined workers stay
	RevokedAt  *time.Time
}

// NewJoinToken is the request for a token that lets workers join.
type NewJoinToken struct {
	Name       string
	Devices    []string
	MaxWorkers int
	Lifetime   time.Duration
}

func (n NewJoinToken) check() error {
	switch {
	case !db.IsName(n.Name):
		return db.Errorf(db.Invalid, "%q is not a valid name of a token: use letters, digits, '.', '_' and '-', at most 40.", n.Name)
	case n.MaxWorkers < 1 || n.MaxWorkers > maxWorkersPerToken:
		return db.Errorf(db.Invalid, "A token can admit 1 to %d workers at a time, not %d.", maxWorkersPerToken, n.MaxWorkers)
	case n.Lifetime < time.Minute || n.Lifetime > 366*24*time.Hour:
		return db.Errorf(db.Invalid, "A token is valid for a minute to a year.")
	}
	return checkDevices(n.Devices)
}

// CreateJoinToken creates a token and returns its secret, which is not stored. Admins only.
func (s *Fleet) CreateJoinToken(ctx context.Context, actor accounts.User, n NewJoinToken) (secret string, token JoinToken, err error) {
	if err := errors.Join(actor.Check(accounts.ManageWorkers, accounts.ObjectOwners{})); err != nil {
		return "", token, err
	}
	if err := n.check(); err != nil {
		return "", token, err
	}
	secret = joinPrefix + db.NewSecret()
	token = JoinToken{
		Name: n.Name, SecretHash: db.HashSecret(secret), Devices: n.Devices, MaxWorkers: n.MaxWorkers,
		CreatedBy: actor.ID, CreatedAt: db.Now(),
	}
	token.ExpiresAt = db.Time(token.CreatedAt.Add(n.Lifetime))
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Create(&token).Error; err != nil {
			return db.WriteError(err, "join token")
		}
		return accounts.WriteAudit(tx, actor, "create join token", "join token "+n.Name, strings.Join(n.Devices, " "))
	})
	return secret, token, err
}

// JoinTokenWithWorkers is a token with the number of its current workers.
type JoinTokenWithWorkers struct {
	JoinToken
	Workers int
}

// JoinTokens lists the tokens that let workers in, the newest first.
func (s *Fleet) JoinTokens(ctx context.Context) (list []JoinTokenWithWorkers, err error) {
	err = s.db.Read(ctx).Table("join_tokens t").
		Select("t.*, (select count(*) from worker_credentials c where c.join_id = t.id and c.revoked_at is null) as workers").
		Where("revoked_at is null and expires_at > ?", db.Now().Add(-guestRemovedAfter)).Order("id desc").Find(&list).Error
	return list, db.ReadError(err, "join tokens")
}

// RevokeJoinToken revokes a token and the credentials of all workers that joined by it. It returns their names: the
// caller must then disconnect them. Admins only.
func (s *Fleet) RevokeJoinToken(ctx context.Context, actor accounts.User, id int64) (workers []string, err error) {
	if err := actor.Check(accounts.ManageWorkers, accounts.ObjectOwners{}); err != nil {
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
		// Workers that have left are remembered for a while, too.
		if err := blockReuse(tx, tx.Model(&WorkerCredential{}).Select("name").Where("join_id = ?", id)); err != nil {
			return err
		}
		err := tx.Model(&WorkerCredential{}).Where("join_id = ? and revoked_at is null", id).Update("revoked_at", db.Now()).Error
		return errors.Join(db.WriteError(err, "credentials of join token %d", id),
			accounts.WriteAudit(tx, actor, "revoke join token", "join token "+token.Name, strings.Join(workers, " ")))
	})
	return workers, err
}

// JoinSecret returns the secret that a joining worker presents: the token, and a secret that the worker made.
func JoinSecret(token, own string) string { return token + "." + own }

// join creates the credential of a worker that joins by a token for the first time, and returns the worker's own
// secret. It creates none under the name of a known worker. Without a credential the worker is refused.
func (s *Fleet) join(ctx context.Context, name, secret string) (own string, err error) {
	token, own, _ := strings.Cut(secret, ".")
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := sweepRevokedGuests(tx.Where("name = ?", name), db.Now()); err != nil {
			return err
		}
		if known, err := knownName(tx, name); err != nil || known {
			return err
		}
		var found JoinToken
		read := tx.Where("secret_hash = ? and revoked_at is null and expires_at > ?", db.HashSecret(token), db.Now()).Limit(1).Find(&found)
		if read.Error != nil || read.RowsAffected == 0 || len(own) < 16 || !db.IsName(name) {
			return db.ReadError(read.Error, "join token")
		}
		if here, err := countGuests(tx, found.ID, name); err != nil || here >= found.MaxWorkers {
			return err
		}
		return db.WriteError(tx.Create(&WorkerCredential{
			Name: name, SecretHash: db.HashSecret(own), Devices: found.Devices, CreatedBy: found.CreatedBy, CreatedAt: db.Now(), JoinID: found.ID,
		}).Error, "credential of worker %s", name)
	})
	return own, err
}

// knownName reports whether a name is taken: by a credential, by the site's own worker, or by a worker that was seen.
// Upper and lower case do not make two names, because people identify workers by them.
func knownName(tx *gorm.DB, name string) (known bool, err error) {
	err = tx.Raw(`select exists (select 1 from worker_credentials where lower(name) = lower(?))
		or exists (select 1 from settings where lower(key) = lower(?))
		or exists (select 1 from workers where not guest and lower(name) = lower(?))`, name, claimKeyPrefix+name, name).Scan(&known).Error
	return known, db.ReadError(err, "whether the name of worker %s is taken", name)
}
