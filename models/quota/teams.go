package quota

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
)

// Team is a group of people who share a budget, in addition to their own budgets. A person is in at most one team.
type Team struct {
	GPUTimeShare
	MemberCount int          `gorm:"column:members"`
	People      []TeamMember `gorm:"-"` // the members, by name; only set by Teams
}

// TeamMember is a member of a team.
type TeamMember struct {
	ID   int64
	Name string
}

// maxTeamNameLength limits the name of a team, in characters.
const maxTeamNameLength = 60

// TeamChange describes an admin's change of a team. An unknown name creates a team. Names that differ only in case are
// equal.
type TeamChange struct {
	Name          string
	PersonID      int64 // person who joins the team, also from another one; 0 for no one
	BudgetSeconds *int  // new budget; 0 for no limit, nil for no change
}

// SetTeam applies a change to a team. Only admins may call it.
func (q *Quotas) SetTeam(ctx context.Context, actor accounts.User, n TeamChange) error {
	return q.runAsAdmin(ctx, actor, "set team", func(tx *gorm.DB) (subject, detail string, err error) {
		name := strings.Join(strings.Fields(db.SanitizeText(n.Name)), " ")
		var parts []string
		if n.BudgetSeconds != nil {
			budget, err := budgetText(*n.BudgetSeconds)
			if err != nil {
				return "", "", err
			}
			parts = append(parts, budget)
		}
		switch {
		case name == "":
			return "", "", db.Errorf(db.Invalid, "Name the team.")
		case len([]rune(name)) > maxTeamNameLength:
			return "", "", db.Errorf(db.Invalid, "The name of a team has at most %d characters.", maxTeamNameLength)
		}
		var team struct {
			ID   int64
			Name string
		}
		err = tx.Raw(`insert into teams (name, name_key, seconds) values (@name, @key, coalesce(cast(@seconds as integer), 0))
			on conflict (name_key) do update set seconds = coalesce(cast(@seconds as integer), teams.seconds) returning id, name`,
			map[string]any{"name": name, "key": strings.ToLower(name), "seconds": n.BudgetSeconds}).Scan(&team).Error
		if err == nil && n.PersonID > 0 {
			who, err := personName(tx, n.PersonID)
			if err != nil {
				return "", "", err
			}
			parts = append([]string{who + " comes in"}, parts...)
			err = tx.Exec(`insert into team_members (user_id, team_id) values (?, ?)
				on conflict (user_id) do update set team_id = excluded.team_id`, n.PersonID, team.ID).Error
			return team.Name, strings.Join(parts, ", "), db.WriteError(err, "member of team %s", team.Name)
		}
		return team.Name, strings.Join(parts, ", "), db.WriteError(err, "team %s", name)
	})
}

// RemoveTeam deletes a team and its budget, but not its members. Only admins may call it.
func (q *Quotas) RemoveTeam(ctx context.Context, actor accounts.User, id int64) error {
	return q.runAsAdmin(ctx, actor, "remove team", func(tx *gorm.DB) (name, _ string, err error) {
		if name, err = teamName(tx, id); err == nil {
			err = db.WriteError(tx.Exec("delete from teams where id = ?", id).Error, "teams without %s", name)
		}
		return name, "", err
	})
}

// RemoveFromTeam removes a person from a team. It does nothing if the person has left. Only admins may call it.
func (q *Quotas) RemoveFromTeam(ctx context.Context, actor accounts.User, id, person int64) error {
	return q.runAsAdmin(ctx, actor, "leave team", func(tx *gorm.DB) (who, team string, err error) {
		if team, err = teamName(tx, id); err != nil {
			return "", "", err
		}
		if who, err = personName(tx, person); err != nil {
			return "", "", err
		}
		left := tx.Exec("delete from team_members where team_id = ? and user_id = ?", id, person)
		if left.Error != nil || left.RowsAffected == 0 {
			return "", "", db.WriteError(left.Error, "team %s without %s", team, who)
		}
		return who, team, nil
	})
}

func teamName(tx *gorm.DB, id int64) (name string, err error) {
	err = tx.Table("teams").Where("id = ?", id).Select("name").Take(&name).Error
	return name, db.ReadError(err, "team %d", id)
}

// Teams lists teams by name, with the GPU time that their members used today. most limits their number.
func (q *Quotas) Teams(ctx context.Context, most int) (list []Team, err error) {
	tx := q.db.Read(ctx)
	var rows []struct {
		GPUTimeShare
		MemberID int64
		Member   string
	}
	err = tx.Raw(`select t.id, t.name, t.seconds, coalesce(u.id, 0) as member_id, coalesce(u.name, '') as member,
			coalesce(c.unit_ns, 0) as used
		from (select * from teams order by name_key limit ?) t left join team_members m on m.team_id = t.id
		left join users u on u.id = m.user_id left join charges c on c.user_id = m.user_id and c.day = ?
		order by t.name_key, u.name_key`, most, todayDate(tx)).Scan(&rows).Error
	for _, row := range rows {
		used := row.UsedToday
		if row.UsedToday = 0; len(list) == 0 || list[len(list)-1].ID != row.ID {
			list = append(list, Team{GPUTimeShare: row.GPUTimeShare})
		}
		if team := &list[len(list)-1]; row.MemberID != 0 {
			team.People = append(team.People, TeamMember{row.MemberID, row.Member})
			team.MemberCount, team.UsedToday = len(team.People), team.UsedToday+used
		}
	}
	return list, db.ReadError(err, "teams")
}

// Membership is a person's membership of a team.
type Membership struct {
	UserID int64
	TeamID int64
	Name   string // name of the team
}

// Memberships lists the memberships of all teams.
func (q *Quotas) Memberships(ctx context.Context) (list []Membership, err error) {
	err = q.db.Read(ctx).Table("team_members m").Select("m.user_id, m.team_id, t.name").
		Joins("join teams t on t.id = m.team_id").Scan(&list).Error
	return list, db.ReadError(err, "members of teams")
}

// Charge is the GPU time of a person's work on one day (UTC): duration times number of GPUs. It remains when the work
// is deleted.
type Charge struct {
	UserID int64  `gorm:"primaryKey;autoIncrement:false"`
	Day    string `gorm:"primaryKey"` // in the format 2006-01-02
	SlotNS int64  `gorm:"column:unit_ns"`
}

// ChargeGPUTime charges a person for GPUs that were used until now by a submission, or by an evaluation (submission 0).
// It does nothing for visitors (person 0) and deleted people.
func ChargeGPUTime(tx *gorm.DB, person, submission int64, held time.Duration) error {
	if person == 0 || held <= 0 {
		return nil
	}
	if submission > 0 {
		err := tx.Model(&SubmissionUse{}).Where("submission_id = ?", submission).
			Update("held_ns", gorm.Expr("held_ns + ?", held.Nanoseconds())).Error
		if err != nil {
			return db.WriteError(err, "use of submission %d", submission)
		}
	}
	err := tx.Exec(`insert into charges (user_id, day, unit_ns) select id, ?, ? from users where id = ?
		on conflict (user_id, day) do update set unit_ns = charges.unit_ns + excluded.unit_ns`,
		todayDate(tx), held.Nanoseconds(), person).Error
	return db.WriteError(err, "charge of person %d", person)
}
