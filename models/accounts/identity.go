package accounts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// Identity is an account at a sign-in provider. Only Provider and Subject identify the person. An e-mail address may be
// unverified, so equal addresses do not join two accounts.
type Identity struct {
	ID        int64
	UserID    int64
	Provider  string // such as "github"
	Subject   string // the provider's own id of the account
	Email     string
	Name      string
	CreatedAt time.Time
	UsedAt    time.Time
}

// ProviderSignIn has a provider's data of a person who has just signed in.
type ProviderSignIn struct {
	Provider string
	Subject  string
	Name     string
	Email    string
	IsAdmin  bool // the operator named this identity as admin
}

// SignIn returns the person with an identity. It creates the person at the first sign-in.
func (s *Accounts) SignIn(ctx context.Context, in ProviderSignIn) (User, error) {
	if in.Provider == "" || in.Subject == "" {
		return User{}, db.Errorf(db.Invalid, "The provider did not say who signed in.")
	}
	var user User
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var id Identity
		err := tx.Where("provider = ? and subject = ?", in.Provider, in.Subject).Take(&id).Error
		switch {
		case errors.Is(err, gorm.ErrRecordNotFound):
			user, err = createUser(tx, in)
			return err
		case err != nil:
			return fmt.Errorf("reading the identity: %w", err)
		}
		user, err = updateUserOnSignIn(tx, id, in)
		return err
	})
	return user, err
}

// OperatorAccount returns the site's own account, which owns the built-in tasks. It has no identity, so no one can sign
// in with it.
func (s *Accounts) OperatorAccount(ctx context.Context) (User, error) {
	return s.SignIn(ctx, ProviderSignIn{Provider: "site", Subject: "operator", Name: "Warpboard", IsAdmin: true})
}

func createUser(tx *gorm.DB, in ProviderSignIn) (User, error) {
	name, err := uniqueName(tx, in.Name)
	if err != nil {
		return User{}, err
	}
	user := User{
		Name: name, UniqueNameKey: strings.ToLower(name), Email: db.SanitizeText(in.Email),
		Role: RoleUser, CreatedAt: db.Now(), UpdatedAt: db.Now(),
	}
	if in.IsAdmin {
		user.Role = RoleAdmin
	}
	if err := tx.Create(&user).Error; err != nil {
		return User{}, fmt.Errorf("saving a new person: %w", err)
	}
	return user, addIdentity(tx, user.ID, in)
}

func updateUserOnSignIn(tx *gorm.DB, id Identity, in ProviderSignIn) (User, error) {
	var user User
	if err := tx.Take(&user, id.UserID).Error; err != nil {
		return User{}, fmt.Errorf("reading person %d: %w", id.UserID, err)
	}
	if user.BlockedAt != nil {
		return User{}, db.Errorf(db.Forbidden, "This account is blocked. Ask an admin of this site.")
	}
	user.Email, user.UpdatedAt = db.SanitizeText(in.Email), db.Now()
	if in.IsAdmin {
		user.Role = RoleAdmin
	}
	if err := tx.Save(&user).Error; err != nil {
		return User{}, fmt.Errorf("saving person %d: %w", user.ID, err)
	}
	err := tx.Model(&id).Updates(Identity{Email: db.SanitizeText(in.Email), Name: db.SanitizeText(in.Name), UsedAt: db.Now()}).Error
	return user, db.WriteError(err, "identity")
}

// LinkIdentity adds an identity to an existing account.
func (s *Accounts) LinkIdentity(ctx context.Context, userID int64, in ProviderSignIn) error {
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		var id Identity
		err := tx.Where("provider = ? and subject = ?", in.Provider, in.Subject).Take(&id).Error
		switch {
		case errors.Is(err, gorm.ErrRecordNotFound):
			return addIdentity(tx, userID, in)
		case err != nil:
			return fmt.Errorf("reading the identity: %w", err)
		case id.UserID != userID:
			return db.Errorf(db.Conflict, "This %s account belongs to another person here.", in.Provider)
		}
		return nil
	})
}

// Identities lists the identities of a person.
func (s *Accounts) Identities(ctx context.Context, userID int64) ([]Identity, error) {
	var ids []Identity
	err := s.db.Read(ctx).Where("user_id = ?", userID).Order("id").Find(&ids).Error
	return ids, db.ReadError(err, "identities of person %d", userID)
}

func addIdentity(tx *gorm.DB, userID int64, in ProviderSignIn) error {
	err := tx.Create(&Identity{
		UserID: userID, Provider: in.Provider, Subject: in.Subject,
		Email: db.SanitizeText(in.Email), Name: db.SanitizeText(in.Name), CreatedAt: db.Now(), UsedAt: db.Now(),
	}).Error
	return db.WriteError(err, "identity")
}

// uniqueName returns wanted, with a number appended if another person has that name.
func uniqueName(tx *gorm.DB, wanted string) (string, error) {
	base := CleanName(wanted)
	if base == "" {
		base = "someone"
	}
	for n, name := 2, base; ; n++ {
		var taken int64
		if err := tx.Model(&User{}).Where("name_key = ?", strings.ToLower(name)).Count(&taken).Error; err != nil {
			return "", fmt.Errorf("looking for a free name: %w", err)
		}
		if taken == 0 {
			return name, nil
		}
		name = fmt.Sprintf("%s-%d", base, n)
	}
}

// UnlinkIdentity removes one of a person's identities and ends all sessions except keep, because they may have begun
// with that identity. It refuses to remove the last identity, without which the person could not sign in.
func (s *Accounts) UnlinkIdentity(ctx context.Context, userID, id, keep int64) error {
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		var ways int64
		if err := tx.Model(&Identity{}).Where("user_id = ?", userID).Count(&ways).Error; err != nil {
			return fmt.Errorf("counting the ways to sign in: %w", err)
		}
		res := tx.Where("user_id = ? and id = ?", userID, id).Delete(&Identity{})
		switch {
		case res.Error != nil:
			return db.WriteError(res.Error, "identity")
		case res.RowsAffected == 0:
			return db.Errorf(db.NotFound, "This sign-in method does not belong to the account.")
		case ways == 1:
			return db.Errorf(db.Conflict, "This is the only way into the account. Add another before you remove it.")
		}
		return endOtherSessions(tx, userID, keep)
	})
}
