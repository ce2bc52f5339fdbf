package quota

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/internal/gpuname"
	"warpboard/models/accounts"
	"warpboard/models/db"
)

// budgetKeyPrefix is the prefix of the settings that store budgets in seconds. A person's ID or the word for everyone
// follows.
const (
	budgetKeyPrefix   = "budget."
	everyoneBudgetKey = "all"
)

// MaxBudgetSeconds is the largest budget, in GPU-seconds per day: a thousand GPUs all day.
const MaxBudgetSeconds = 1000 * 24 * 60 * 60

// Quotas reads and changes budgets and teams in one database.
type Quotas struct{ db *db.DB }

// New returns the budgets and teams in a database.
func New(database *db.DB) *Quotas { return &Quotas{db: database} }

// GPUTimeShare is the GPU time that a person or a team may use per day, and has used today.
type GPUTimeShare struct {
	ID            int64 // number of the person or the team
	Name          string
	SecondsPerDay int           `gorm:"column:seconds"` // 0: no limit
	UsedToday     time.Duration `gorm:"column:used"`
}

// RemainingTime returns the GPU time that remains today; at least 0.
func (s GPUTimeShare) RemainingTime() time.Duration {
	return max(0, time.Duration(s.SecondsPerDay)*time.Second-s.UsedToday)
}

// Budget has a person's share and their team's share.
type Budget struct {
	GPUTimeShare
	IsPersonal bool      `gorm:"column:own"` // the budget is set for this person, not for everyone
	RenewsAt   time.Time `gorm:"-"`
	Team       Team      `gorm:"-"` // zero if the person has no team
}

// midnightUTC returns the last midnight in UTC, by the database's clock.
func midnightUTC(tx *gorm.DB) time.Time { return tx.NowFunc().Truncate(24 * time.Hour) }

// todayDate returns today's date as charges store it.
func todayDate(tx *gorm.DB) string { return midnightUTC(tx).Format(time.DateOnly) }

// runAsAdmin checks that actor may manage devices, which only admins may, runs do in a transaction, and adds the action
// to the audit log unless the subject is empty.
func (q *Quotas) runAsAdmin(ctx context.Context, actor accounts.User, act string,
	do func(*gorm.DB) (subject, detail string, err error)) error {
	if err := actor.CheckPermission(accounts.ManageDevices, accounts.OwnerIDs{}); err != nil {
		return err
	}
	return q.db.Write(ctx, func(tx *gorm.DB) error {
		subject, detail, err := do(tx)
		if err != nil || subject == "" {
			return err
		}
		return accounts.WriteAudit(tx, actor, act, subject, detail)
	})
}

// budgetText formats a budget. It returns an error if the budget is out of range.
func budgetText(seconds int) (string, error) {
	if seconds < 0 || seconds > MaxBudgetSeconds {
		return "", db.Errorf(db.Invalid, "A budget is 0 to %d GPU-seconds a day; 0 is no limit.", MaxBudgetSeconds)
	}
	return fmt.Sprintf("%d GPU-seconds a day", seconds), nil
}

func personName(tx *gorm.DB, person int64) (string, error) {
	var user accounts.User
	err := tx.Take(&user, person).Error
	return user.Name, db.ReadError(err, "person %d", person)
}

// SetBudget limits one person, or everyone (person 0), to some GPU-seconds per day. nil removes the limit. Only admins
// may call it.
func (q *Quotas) SetBudget(ctx context.Context, actor accounts.User, person int64, seconds *int) error {
	key, whose, act := budgetKeyPrefix+everyoneBudgetKey, "everyone", "set budget"
	if person > 0 {
		key, whose = budgetKeyPrefix+strconv.FormatInt(person, 10), fmt.Sprintf("person %d", person)
	}
	if seconds == nil {
		act = "remove budget"
	}
	return q.runAsAdmin(ctx, actor, act, func(tx *gorm.DB) (subject, detail string, err error) {
		if person > 0 {
			if _, err := personName(tx, person); err != nil {
				return "", "", err
			}
		}
		if seconds == nil {
			if was, err := db.DeleteSetting(tx, key); err != nil || !was {
				return "", "", err
			}
			return whose, "", nil
		}
		if detail, err = budgetText(*seconds); err != nil {
			return "", "", err
		}
		return whose, detail, db.PutJSONSetting(tx, key, *seconds)
	})
}

// BudgetOf reads a person's budget and today's use in one query. It returns no limit for admins.
func (q *Quotas) BudgetOf(ctx context.Context, user accounts.User) (Budget, error) {
	return readBudget(q.db.Read(ctx), user)
}

func readBudget(tx *gorm.DB, user accounts.User) (Budget, error) {
	var row struct {
		Own, Common *int
		Used        time.Duration
		TeamID      int64
		TeamName    string
		TeamSeconds int
		TeamMembers int
		TeamUsed    time.Duration
	}
	err := tx.Raw(`select p.*, coalesce(t.id, 0) as team_id, coalesce(t.name, '') as team_name,
			coalesce(t.seconds, 0) as team_seconds, (select count(*) from team_members where team_id = t.id) as team_members,
			(select coalesce(sum(unit_ns), 0) from charges where day = ?
				and user_id in (select user_id from team_members where team_id = t.id)) as team_used
		from (select (select cast(value as integer) from settings where key = ?) as own,
			(select cast(value as integer) from settings where key = ?) as common,
			(select coalesce(sum(unit_ns), 0) from charges where day = ? and user_id = ?) as used) p
		left join team_members m on m.user_id = ? left join teams t on t.id = m.team_id`,
		todayDate(tx), budgetKeyPrefix+strconv.FormatInt(user.ID, 10), budgetKeyPrefix+everyoneBudgetKey, todayDate(tx), user.ID, user.ID).Scan(&row).Error
	b := Budget{
		GPUTimeShare: GPUTimeShare{ID: user.ID, Name: user.Name, UsedToday: row.Used}, IsPersonal: row.Own != nil, RenewsAt: midnightUTC(tx).Add(24 * time.Hour),
		Team: Team{GPUTimeShare{row.TeamID, row.TeamName, row.TeamSeconds, row.TeamUsed}, row.TeamMembers, nil},
	}
	for _, seconds := range []*int{row.Common, row.Own} {
		if seconds != nil && !user.IsAdmin() {
			b.SecondsPerDay = *seconds
		}
	}
	return b, db.ReadError(err, "budget of person %d", user.ID)
}

// reservedBudgetRetryAfter is the Retry-After time if a person's unfinished work reserves the rest of today's budget.
const reservedBudgetRetryAfter = 30 * time.Second

// reservedGPUTimeSQL estimates the GPU time of a person's unfinished work from the average of their last twenty runs of
// the same kind; without an earlier run it is 0. Otherwise many simultaneous runs would exceed a budget.
const reservedGPUTimeSQL = `select coalesce(sum(live * held), 0) from (
	select (select count(*) from runs where user_id = @id and ended_at is null and device <> @cpu
			and purpose in ('submitted', 'practice')) as live,
		(select avg(unit_ns) from (select unit_ns from runs where user_id = @id and unit_ns > 0 and device <> @cpu
			order by ended_at desc limit 20) r) as held
	union all
	select (select count(*) from evaluations where user_id = @id and ended_at is null and device <> @cpu),
		(select avg(unit_ns) from (select unit_ns from evaluations where user_id = @id and unit_ns > 0 and device <> @cpu
			order by ended_at desc limit 20) e)
) kinds`

// CheckBudget returns an error for work on a GPU if today's budget of the person or their team is used up or reserved.
// Visitors (person 0) and admins have no budget.
func CheckBudget(tx *gorm.DB, user accounts.User, devices ...string) error {
	onGPU := func(device string) bool { return device != gpuname.CPU }
	if !user.SignedIn() || user.IsAdmin() || !slices.ContainsFunc(devices, onGPU) {
		return nil
	}
	b, err := readBudget(tx, user)
	least, name, whose := b.GPUTimeShare, "your budget", "your"
	if t := b.Team; t.SecondsPerDay > 0 && (least.SecondsPerDay == 0 || t.RemainingTime() < least.RemainingTime()) {
		least, name, whose = t.GPUTimeShare, "the budget of your team "+t.Name, "its members'"
	}
	if err != nil || least.SecondsPerDay == 0 {
		return err
	}
	if least.RemainingTime() == 0 {
		wait := b.RenewsAt.Sub(tx.NowFunc()).Truncate(time.Second) + time.Second
		return db.TooManyf(wait,
			"%s of %d GPU-seconds a day is used up: %s runs held GPUs for %.0f s today. It resets at 00:00 UTC, in %s.",
			strings.ToUpper(name[:1])+name[1:], least.SecondsPerDay, whose, least.UsedToday.Seconds(), wait)
	}
	var ns float64
	err = tx.Raw(reservedGPUTimeSQL, map[string]any{"id": user.ID, "cpu": gpuname.CPU}).Scan(&ns).Error
	if err != nil || time.Duration(ns) < least.RemainingTime() {
		return db.ReadError(err, "unfinished work of person %d", user.ID)
	}
	return db.TooManyf(reservedBudgetRetryAfter, "Judging by your past runs, your waiting and running work needs about %.0f GPU-seconds, "+
		"and %.0f of today's %d are left (%s). Wait for some of it to end, or cancel it.",
		ns/1e9, least.RemainingTime().Seconds(), least.SecondsPerDay, name)
}

// BudgetsToday lists the people who have their own budget or used GPUs today, largest use first. most limits their
// number. It also returns the budget for everyone.
func (q *Quotas) BudgetsToday(ctx context.Context, most int) (list []Budget, all int, err error) {
	tx := q.db.Read(ctx)
	limits, err := db.ReadJSONSettings[int](tx.Where("key = ?", budgetKeyPrefix+everyoneBudgetKey), budgetKeyPrefix)
	if err != nil {
		return nil, 0, err
	}
	all = limits[everyoneBudgetKey]
	err = tx.Raw(`select users.id, users.name, coalesce(charges.unit_ns, 0) as used,
			coalesce(cast(s.value as integer), ?) as seconds, s.value is not null as own
		from users left join charges on charges.user_id = users.id and charges.day = ?
		left join settings s on s.key = '`+budgetKeyPrefix+`' || cast(users.id as text)
		where charges.user_id is not null or s.value is not null
		order by used desc, users.id limit ?`, all, todayDate(tx), most).Scan(&list).Error
	return list, all, db.ReadError(err, "budgets")
}
