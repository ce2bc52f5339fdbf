package fleet

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/internal/gpuname"
	"warpboard/models/accounts"
	"warpboard/models/db"
)

// WorkerCredential allows a remote worker to connect under one name and to receive jobs for some devices.
type WorkerCredential struct {
	ID          int64
	Name        string // name of the worker
	SecretHash  string
	Devices     []string `gorm:"serializer:json"`
	CreatedBy   int64
	CreatedAt   time.Time
	UsedAt      *time.Time // last connection
	RevokedAt   *time.Time
	JoinTokenID int64 `gorm:"column:join_id"` // token by which the worker joined; 0 if an admin made the credential
}

// listsDevice reports whether the credential lists a device or its family.
func (c WorkerCredential) listsDevice(device string) bool {
	return slices.ContainsFunc(c.Devices, func(name string) bool { return gpuname.NameMeansDevice(name, device) })
}

// CreateCredential creates a credential and returns its secret, of which only a hash is stored. Only admins may call
// it.
func (s *Fleet) CreateCredential(
	ctx context.Context, actor accounts.User, name string, devices []string,
) (secret string, cred WorkerCredential, err error) {
	if err := actor.CheckPermission(accounts.ManageWorkers, accounts.OwnerIDs{}); err != nil {
		return "", cred, err
	}
	switch {
	case !db.IsValidName(name):
		return "", cred, db.Errorf(db.Invalid, "%q is not a valid worker name: use letters, digits, '.', '_' and '-', at most 40.", name)
	}
	if err := checkDevices(devices); err != nil {
		return "", cred, err
	}
	secret = db.NewSecret()
	cred = WorkerCredential{
		Name:       name,
		SecretHash: db.HashSecret(secret),
		Devices:    devices,
		CreatedBy:  actor.ID,
		CreatedAt:  db.Now(),
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		free, err := canClaimName(tx, name, "")
		if err != nil {
			return err
		}
		if !free {
			return db.Errorf(db.Conflict, "%s is the name of the site's own worker: choose another.", name)
		}
		// The name of a revoked credential can be used again.
		if err := dropRevokedCredential(tx, name); err != nil {
			return err
		}
		if err := tx.Create(&cred).Error; err != nil {
			return db.WriteError(err, "credential")
		}
		return accounts.WriteAudit(tx, actor, "create credential", "worker "+name, strings.Join(devices, " "))
	})
	return secret, cred, err
}

// dropRevokedCredential deletes a revoked credential of a name.
func dropRevokedCredential(tx *gorm.DB, name string) error {
	err := tx.Where("name = ? and revoked_at is not null", name).Delete(&WorkerCredential{}).Error
	return db.WriteError(err, "revoked credential of worker %s", name)
}

func checkDevices(devices []string) error {
	if len(devices) == 0 {
		return db.Errorf(db.Invalid, "Name at least one device that the worker may take jobs for.")
	}
	for _, d := range devices {
		if !db.IsValidName(d) {
			return db.Errorf(db.Invalid, "%q is not a valid device name.", d)
		}
	}
	return nil
}

// AuthorizeWorker returns the devices for which the worker with a name and secret may receive jobs. ok is false if the
// credential is unknown, wrong, or revoked. A family means all its devices that were ever seen, so a worker with a new
// device must reconnect after the device was stored. A secret made by JoinSecret creates the worker's credential at its
// first connection.
func (s *Fleet) AuthorizeWorker(ctx context.Context, name, secret string) (names []string, ok bool, err error) {
	if strings.HasPrefix(secret, joinTokenPrefix) {
		if secret, err = s.createGuestCredential(ctx, name, secret); err != nil {
			return nil, false, err
		}
	}
	var cred WorkerCredential
	err = s.db.Read(ctx).Where("name = ? and revoked_at is null", db.SanitizeText(name)).Take(&cred).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading the credential of worker %s: %w", name, err)
	}
	if subtle.ConstantTimeCompare([]byte(cred.SecretHash), []byte(db.HashSecret(secret))) != 1 {
		return nil, false, nil
	}
	// The credential may have been revoked since it was read. A worker disconnected by that must not connect again.
	used := s.db.WriteStatement(ctx).Model(&cred).Where("revoked_at is null and secret_hash = ?", cred.SecretHash).Update("used_at", db.Now())
	if used.Error != nil || used.RowsAffected == 0 {
		return nil, used.Error != nil, db.WriteError(used.Error, "credential")
	}
	known, err := KnownDevices(s.db.Read(ctx))
	for _, label := range known {
		if cred.listsDevice(label) && !slices.Contains(cred.Devices, label) {
			cred.Devices = append(cred.Devices, label)
		}
	}
	return cred.Devices, true, err
}

// Credentials lists the credentials by name, without those of guests that have left.
func (s *Fleet) Credentials(ctx context.Context) ([]WorkerCredential, error) {
	var list []WorkerCredential
	err := s.db.Read(ctx).Where("join_id = 0 or revoked_at is null").Order("name").Find(&list).Error
	return list, db.ReadError(err, "credentials")
}

// RevokeCredential revokes a credential. The caller must then disconnect the worker. Only admins may call it.
func (s *Fleet) RevokeCredential(ctx context.Context, actor accounts.User, name string) error {
	if err := actor.CheckPermission(accounts.ManageWorkers, accounts.OwnerIDs{}); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		res := tx.Model(&WorkerCredential{}).Where("name = ? and revoked_at is null", name).Update("revoked_at", db.Now())
		switch {
		case res.Error != nil:
			return fmt.Errorf("revoking the credential of %s: %w", name, res.Error)
		case res.RowsAffected == 0:
			return db.Errorf(db.NotFound, "Worker %s has no active credential.", name)
		}
		if err := blockResultSharing(tx, name); err != nil {
			return err
		}
		return accounts.WriteAudit(tx, actor, "revoke credential", "worker "+name, "")
	})
}

// blockResultSharing prevents evaluations from sharing results of workers whose secret may have been stolen. names is a
// name, or a query for names.
func blockResultSharing(tx *gorm.DB, names any) error {
	err := tx.Exec("update evaluations set request_hash = '' where ended_at is not null and worker in (?)", names).Error
	return db.WriteError(err, "evaluations of revoked workers")
}
