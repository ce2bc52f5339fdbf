package accounts

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gorm.io/gorm"

	"warpboard/migrations"
	"warpboard/models/db"
)

// Role determines a person's rights. Each role includes the rights of the previous one.
type Role string

// Roles. Visitors have none: they are the zero User.
const (
	RoleVisitor Role = ""
	RoleUser    Role = "user"    // may submit
	RoleCreator Role = "creator" // may also create tasks, and change their own
	RoleAdmin   Role = "admin"   // may do everything
)

// User is a person with an account. The zero value is a visitor.
type User struct {
	ID                   int64
	Name                 string // display name; no two differ only in case
	UniqueNameKey        string `gorm:"column:name_key"`
	Email                string // from the last provider; never identifies an account
	Role                 Role
	BlockedAt            *time.Time
	CreatedAt            time.Time
	UpdatedAt            time.Time
	ExcludedFromDatasets bool  `gorm:"column:no_dataset"` // datasets omit the person's sources
	LastReadNoticeID     int64 `gorm:"column:inbox_read"` // ID of the last notice that the person has read
	// UnreadNotices is the number of unread notices. It is set only for the sender of a request.
	UnreadNotices int `gorm:"-"`
	// JoinedTaskIDs has the tasks with visibility "members" that the person joined. It is set only for the sender of a
	// request, see UserByID.
	JoinedTaskIDs []int64 `gorm:"-"`
}

// SignedIn reports whether the user has an account, unlike a visitor.
func (u User) SignedIn() bool { return u.ID != 0 }

// IsAdmin reports whether the person has all rights.
func (u User) IsAdmin() bool { return u.Role == RoleAdmin }

// MayCreateTasks reports whether the person may create tasks.
func (u User) MayCreateTasks() bool { return u.Role == RoleCreator || u.Role == RoleAdmin }

// User returns the person with an ID.
func (s *Accounts) User(ctx context.Context, id int64) (User, error) {
	return UserByID(s.db.Read(ctx), id)
}

// UserByID reads a person and the tasks that they joined by invite codes.
func UserByID(tx *gorm.DB, id int64) (User, error) {
	u, err := loadUser(tx.Where("users.id = ?", id))
	return u, db.ReadError(err, "person %d", id)
}

func loadUser(q *gorm.DB) (User, error) {
	var row struct {
		User        `gorm:"embedded"`
		JoinedTasks []int64 `gorm:"column:joined;serializer:json"`
		News        int
	}
	err := q.Table("users").Select("users.*", joinedTasksSQL(q, "users.id"),
		unreadCountSQL("users.id")).Take(&row).Error
	row.JoinedTaskIDs, row.UnreadNotices = row.JoinedTasks, row.News
	return row.User, err
}

// joinedTasksSQL returns SQL that selects, as JSON, the tasks that a person joined. It is part of the query that reads
// a user.
func joinedTasksSQL(tx *gorm.DB, person string) string {
	list := "json_group_array(m.task_id)"
	if tx.Name() == migrations.Postgres {
		list = "json_agg(m.task_id)"
	}
	return "(select cast(" + list + " as text) from members m where m.user_id = " + person + " and m.removed_at is null) as joined"
}

// unreadCountSQL returns SQL that selects the number of a person's unread notices. It is part of the query that reads a
// user.
func unreadCountSQL(person string) string {
	return "(select count(*) from notices n join users w on w.id = n.user_id where n.user_id = " + person + " and n.id > w.inbox_read) as news"
}

// UserWithLastVisit is a User with the time of their last request by a session or a token, accurate to a minute. SeenAt
// is nil if the user never visited, or if their sessions and tokens were deleted.
type UserWithLastVisit struct {
	User
	SeenAt *time.Time `gorm:"-"`
}

// Users lists people whose names contain search, sorted by name. Only admins may call it.
func (s *Accounts) Users(
	ctx context.Context, actor User, search string, offset, limit int,
) ([]UserWithLastVisit, error) {
	if err := actor.CheckPermission(ListPeople, OwnerIDs{}); err != nil {
		return nil, err
	}
	var users []UserWithLastVisit
	q := s.db.Read(ctx).Table("users").Order("name_key").Offset(max(offset, 0)).Limit(limit)
	if search != "" {
		pattern := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(search))
		q = q.Where(`name_key like ? escape '\'`, "%"+pattern+"%")
	}
	if err := q.Scan(&users).Error; err != nil {
		return nil, fmt.Errorf("listing people: %w", err)
	}
	return users, s.addLastSeen(ctx, users)
}

// SearchByName lists people whose names begin with a text; case is ignored. It reads a range of the index on names
// instead of all people.
func (s *Accounts) SearchByName(ctx context.Context, beginning string, limit int) ([]User, error) {
	var users []User
	beginning = strings.ToLower(beginning)
	err := s.db.Read(ctx).Where("name_key >= ?", beginning).Order("name_key").Limit(limit).Find(&users).Error
	users = slices.DeleteFunc(users, func(u User) bool { return !strings.HasPrefix(strings.ToLower(u.Name), beginning) })
	return users, db.ReadError(err, "people called %s", beginning)
}

// UserByName returns the person with a name; case is ignored.
func (s *Accounts) UserByName(ctx context.Context, name string) (User, error) {
	u, err := loadUser(s.db.Read(ctx).Where("users.name_key = ?", strings.ToLower(CleanName(name))))
	return u, db.ReadError(err, "person called %q", name)
}

// SetExcludedFromDatasets stores whether datasets exclude the person's sources.
func (s *Accounts) SetExcludedFromDatasets(ctx context.Context, user User, out bool) error {
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		return db.WriteError(tx.Model(&User{}).Where("id = ?", user.ID).Update("no_dataset", out).Error, "person %d", user.ID)
	})
}

// addLastSeen sets the last use of any session or token of each person.
func (s *Accounts) addLastSeen(ctx context.Context, users []UserWithLastVisit) error {
	at := map[int64]*UserWithLastVisit{}
	for i := range users {
		at[users[i].ID] = &users[i]
	}
	ids := slices.Collect(maps.Keys(at))
	var sessions []Session
	err := s.db.Read(ctx).Select("user_id, seen_at").Where("user_id in ?", ids).Find(&sessions).Error
	var tokens []Token
	if err == nil {
		err = s.db.Read(ctx).Select("user_id, used_at").Where("user_id in ? and used_at is not null", ids).Find(&tokens).Error
	}
	for _, session := range sessions {
		at[session.UserID].setSeenAt(session.SeenAt)
	}
	for _, token := range tokens {
		at[token.UserID].setSeenAt(*token.UsedAt)
	}
	return db.ReadError(err, "when people were here last")
}

func (u *UserWithLastVisit) setSeenAt(t time.Time) {
	if u.SeenAt == nil || u.SeenAt.Before(t) {
		u.SeenAt = &t
	}
}

// SetRole sets a person's role. Only an admin may do that, and not for themselves, so that there is always an admin.
func (s *Accounts) SetRole(ctx context.Context, actor User, userID int64, role Role) error {
	if err := actor.CheckPermission(SetRole, OwnerIDs{OwnerID: userID}); err != nil {
		return err
	}
	if role != RoleUser && role != RoleCreator && role != RoleAdmin {
		return db.Errorf(db.Invalid, "There is no role %q: choose user, creator or admin.", role)
	}
	return s.changeUser(ctx, actor, userID, "set role", string(role), map[string]any{"role": role})
}

// SetBlocked blocks or unblocks a person. Sessions and tokens of a blocked person are invalid. Their entries stay on
// the boards; disqualify the runs to remove them.
func (s *Accounts) SetBlocked(ctx context.Context, actor User, userID int64, blocked bool) error {
	if err := actor.CheckPermission(BlockUser, OwnerIDs{OwnerID: userID}); err != nil {
		return err
	}
	act, at := "allow", (*time.Time)(nil)
	if blocked {
		t := db.Now()
		act, at = "block", &t
	}
	return s.changeUser(ctx, actor, userID, act, "", map[string]any{"blocked_at": at})
}

func (s *Accounts) changeUser(
	ctx context.Context, actor User, userID int64, act, detail string, values map[string]any,
) error {
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		res := tx.Model(&User{}).Where("id = ?", userID).Updates(values)
		if res.Error != nil {
			return fmt.Errorf("changing person %d: %w", userID, res.Error)
		}
		if res.RowsAffected == 0 {
			return db.Errorf(db.NotFound, "There is no person %d.", userID)
		}
		return WriteAudit(tx, actor, act, fmt.Sprintf("user %d", userID), detail)
	})
}

// SetName changes a person's name: 1 to 40 visible characters that no other person uses. The caller must update the
// boards that show the name.
func SetName(tx *gorm.DB, actor User, userID int64, name string) error {
	name = CleanName(name)
	if name == "" {
		return db.Errorf(db.Invalid, "A name needs at least one visible character.")
	}
	var had User
	if err := tx.Take(&had, userID).Error; err != nil {
		return db.ReadError(err, "person %d", userID)
	}
	values := map[string]any{"name": name, "name_key": strings.ToLower(name)}
	if err := tx.Model(&User{ID: userID}).Updates(values).Error; err != nil {
		return db.WriteError(err, "person called %s", name)
	}
	return WriteAudit(tx, actor, "rename", fmt.Sprintf("user %d", userID), fmt.Sprintf("from %s to %s", had.Name, name))
}

const maxNameLength = 40

// isInvisibleRune reports whether a letter or mark is not drawn, so that two different names could look the same.
func isInvisibleRune(r rune) bool {
	const brailleBlank = '\u2800'
	return r == brailleBlank || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// CleanName removes control characters, invisible characters, and superfluous spaces from a name. It shortens the name
// to 40 characters with an ellipsis.
func CleanName(name string) string {
	visible := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || isInvisibleRune(r) || !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, name)
	name = strings.Join(strings.Fields(visible), " ")
	if runes := []rune(name); len(runes) > maxNameLength {
		name = strings.TrimSpace(string(runes[:maxNameLength-1])) + "…"
	}
	return name
}
