package budgets

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"gorm.io/gorm"

	"warpboard/internal/gpuname"
	"warpboard/models/accounts"
	"warpboard/models/db"
)

// keyPrefix begins the settings that hold budgets in seconds; everyone's, or a person's id, follows.
const (
	keyPrefix = "budget."
	forAll    = "all"
)

// Most is the largest budget in seconds: a thousand GPUs for a day.
const Most = 1000 * 24 * 60 * 60

// Budgets are those of one database.
type Budgets struct{ db *db.DB }

// New returns the budgets of a database.
func New(database *db.DB) *Budgets { return &Budgets{db: database} }

// Budget is what a person may use in a day, and has used today.
type Budget struct {
	UserID  int64
	Name    string
	Seconds int  // 0: no limit
	Own     bool // set for this person alone
	Used    time.Duration
	Renews  time.Time
	Team    TeamBudget // that the person is in; zero: none
}

// Left is what remains of today; 0 when nothing does.
func (b Budget) Left() time.Duration {
	return max(0, time.Duration(b.Seconds)*time.Second-b.Used)
}

// today begins at midnight UTC, by the database's clock.
func today(tx *gorm.DB) time.Time { return tx.NowFunc().Truncate(24 * time.Hour) }

// SetBudget limits everyone (person 0) or one person to so many GPU-seconds a day. Nil removes a limit: a person's own,
// or with person 0 that of everyone. Admins only.
func (b *Budgets) SetBudget(ctx context.Context, actor accounts.User, person int64, seconds *int) error {
	if err := actor.Check(accounts.ManageDevices, accounts.Of{}); err != nil {
		return err
	}
	if seconds != nil && (*seconds < 0 || *seconds > Most) {
		return db.Errorf(db.Invalid, "A budget is 0 to %d GPU-seconds a day; 0 is no limit.", Most)
	}
	key, whose := forAll, "everyone"
	if person > 0 {
		key, whose = strconv.FormatInt(person, 10), fmt.Sprintf("person %d", person)
	}
	return b.db.Write(ctx, func(tx *gorm.DB) error {
		if person > 0 {
			if err := tx.Take(&accounts.User{}, person).Error; err != nil {
				return db.ReadError(err, "person %d", person)
			}
		}
		if seconds == nil {
			if was, err := db.DeleteSetting(tx, keyPrefix+key); err != nil || !was {
				return err
			}
			return accounts.WriteAudit(tx, actor, "remove budget", whose, "")
		}
		if err := db.PutJSON(tx, keyPrefix+key, *seconds); err != nil {
			return err
		}
		return accounts.WriteAudit(tx, actor, "set budget", whose, fmt.Sprintf("%d GPU-seconds a day", *seconds))
	})
}

// BudgetOf reads a person's budget and what they used today, in one query. Admins have no limit.
func (b *Budgets) BudgetOf(ctx context.Context, user accounts.User) (Budget, error) {
	return read(b.db.Read(ctx), user)
}

func read(tx *gorm.DB, user accounts.User) (Budget, error) {
	since := today(tx)
	budget := Budget{UserID: user.ID, Name: user.Name, Renews: since.Add(24 * time.Hour)}
	var row struct {
		Own, Common *string
		Used        int64
		TeamID      int64
		TeamName    string
		TeamSeconds int
		TeamMembers int
		TeamUsed    int64
	}
	err := tx.Raw(`select p.*, coalesce(t.id, 0) as team_id, coalesce(t.name, '') as team_name, coalesce(t.seconds, 0) as team_seconds,
			(select count(*) from team_members where team_id = t.id) as team_members,
			(select coalesce(sum(unit_ns), 0) from charges where day = ? and user_id in (select user_id from team_members where team_id = t.id)) as team_used
		from (select (select value from settings where key = ?) as own, (select value from settings where key = ?) as common,
			(select coalesce(sum(unit_ns), 0) from charges where day = ? and user_id = ?) as used) p
		left join team_members m on m.user_id = ? left join teams t on t.id = m.team_id`,
		dayOf(since), keyPrefix+strconv.FormatInt(user.ID, 10), keyPrefix+forAll, dayOf(since), user.ID, user.ID).Scan(&row).Error
	if err != nil {
		return budget, db.ReadError(err, "budget of person %d", user.ID)
	}
	budget.Used, budget.Own = time.Duration(row.Used), row.Own != nil
	budget.Team = TeamBudget{ID: row.TeamID, Name: row.TeamName, Members: row.TeamMembers, Seconds: row.TeamSeconds, Used: time.Duration(row.TeamUsed)}
	text := row.Common
	if row.Own != nil {
		text = row.Own
	}
	if text != nil && !user.IsAdmin() {
		if budget.Seconds, err = strconv.Atoi(*text); err != nil {
			return budget, fmt.Errorf("reading the budget of person %d: %w", user.ID, err)
		}
	}
	return budget, nil
}

// Check refuses work for a GPU of a person whose budget of today is used up. No one in person (0) has none.
func Check(tx *gorm.DB, user accounts.User, devices ...string) error {
	gpu := false
	for _, device := range devices {
		gpu = gpu || device != gpuname.CPU
	}
	if !gpu || !user.SignedIn() || user.IsAdmin() {
		return nil
	}
	budget, err := read(tx, user)
	least, limited := budget.least()
	if err != nil || !limited {
		return err
	}
	if least.left > 0 {
		return checkReserved(tx, user.ID, least)
	}
	wait := budget.Renews.Sub(tx.NowFunc()).Truncate(time.Second) + time.Second
	tooMany := db.Errorf(db.TooMany, "%s of %d GPU-seconds a day is used up: %s runs held GPUs for %.0f s today. It resets at 00:00 UTC, in %s.",
		least.name, least.seconds, least.whose, least.used.Seconds(), wait)
	tooMany.RetryAfter = wait
	return tooMany
}

// limit is one of the budgets that a person has.
type limit struct {
	name, whose string
	seconds     int
	used, left  time.Duration
}

// least is the budget with the least left: the person's, or their team's; false: neither is limited.
func (b Budget) least() (l limit, limited bool) {
	if b.Seconds > 0 {
		l, limited = limit{"Your budget", "your", b.Seconds, b.Used, b.Left()}, true
	}
	if t := b.Team; t.Seconds > 0 && (!limited || t.Left() < l.left) {
		l, limited = limit{"The budget of your team " + t.Name, "its members'", t.Seconds, t.Used, t.Left()}, true
	}
	return l, limited
}

// Today lists everyone who has a budget of their own or used GPUs today, most used first, at most so many; and the limit for everyone.
func (b *Budgets) Today(ctx context.Context, most int) (list []Budget, all int, err error) {
	since := today(b.db.Read(ctx))
	limits, err := db.JSONSettings[int](b.db.Read(ctx).Where("key like ?", keyPrefix+"%"), keyPrefix)
	if err != nil {
		return nil, 0, err
	}
	var rows []struct {
		ID   int64
		Name string
		Used int64
	}
	err = b.db.Read(ctx).Raw(`select users.id, users.name, coalesce(charges.unit_ns, 0) as used
		from users left join charges on charges.user_id = users.id and charges.day = ?
		where charges.user_id is not null or exists (select 1 from settings where key = '`+keyPrefix+`' || cast(users.id as text))
		order by used desc, users.id limit ?`, dayOf(since), most).Scan(&rows).Error
	if err != nil {
		return nil, 0, db.ReadError(err, "budgets")
	}
	all = limits[forAll]
	for _, row := range rows {
		own, has := limits[strconv.FormatInt(row.ID, 10)]
		one := Budget{UserID: row.ID, Name: row.Name, Seconds: all, Own: has, Used: time.Duration(row.Used), Renews: since.Add(24 * time.Hour)}
		if has {
			one.Seconds = own
		}
		list = append(list, one)
	}
	return list, all, nil
}
