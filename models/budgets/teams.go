package budgets

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
)

// Team is people who share a budget of their own beside each one's. A person is in one at most.
type Team struct {
	ID      int64
	Name    string
	NameKey string // no two names differ only in case
	Seconds int    // GPU-seconds a day; 0: no limit
}

// TeamMember puts a person in a team.
type TeamMember struct {
	UserID int64 `gorm:"primaryKey;autoIncrement:false"`
	TeamID int64
}

// TeamBudget is what a team may use in a day, and what its current members used today.
type TeamBudget struct {
	ID      int64
	Name    string
	Members int
	People  []Person `gorm:"-"` // the members, by name; Teams alone fills it in
	Seconds int      // 0: no limit
	Used    time.Duration
}

// Person is a member of a team.
type Person struct {
	ID   int64
	Name string
}

// Left is what remains of today; 0 when nothing does.
func (b TeamBudget) Left() time.Duration {
	return max(0, time.Duration(b.Seconds)*time.Second-b.Used)
}

// longestTeam is the longest name of a team in characters.
const longestTeam = 60

// TeamChange is what an admin changes of a team; a team that there is not yet is made.
type TeamChange struct {
	Name    string
	Person  int64 // who comes in, from another team, too; 0: no one
	Seconds *int  // the budget, 0 for no limit; nil: unchanged
}

// SetTeam changes a team. Admins only.
func (b *Budgets) SetTeam(ctx context.Context, actor accounts.User, n TeamChange) error {
	if err := actor.Check(accounts.ManageDevices, accounts.Of{}); err != nil {
		return err
	}
	name := strings.Join(strings.Fields(db.Sanitize(n.Name)), " ")
	switch {
	case n.Seconds != nil && (*n.Seconds < 0 || *n.Seconds > Most):
		return db.Errorf(db.Invalid, "A budget is 0 to %d GPU-seconds a day; 0 is no limit.", Most)
	case name == "":
		return db.Errorf(db.Invalid, "Name the team.")
	case len([]rune(name)) > longestTeam:
		return db.Errorf(db.Invalid, "The name of a team has at most %d characters.", longestTeam)
	}
	return b.db.Write(ctx, func(tx *gorm.DB) error {
		who := ""
		if n.Person > 0 {
			var user accounts.User
			if err := tx.Take(&user, n.Person).Error; err != nil {
				return db.ReadError(err, "person %d", n.Person)
			}
			who = user.Name
			if err := tx.Delete(&TeamMember{UserID: n.Person}).Error; err != nil {
				return db.WriteError(err, "person %d without a team", n.Person)
			}
		}
		team, err := putTeam(tx, name, n.Seconds)
		if err == nil && n.Person > 0 {
			err = db.WriteError(tx.Create(&TeamMember{n.Person, team.ID}).Error, "member of team %s", team.Name)
		}
		if err != nil {
			return err
		}
		return accounts.WriteAudit(tx, actor, "set team", team.Name, n.detail(who))
	})
}

// detail says what changes, for the audit log.
func (n TeamChange) detail(who string) string {
	var parts []string
	if who != "" {
		parts = append(parts, who+" comes in")
	}
	if n.Seconds != nil {
		parts = append(parts, fmt.Sprintf("%d GPU-seconds a day", *n.Seconds))
	}
	return strings.Join(parts, ", ")
}

// putTeam finds a team by its name or makes it, and sets its budget if one is given.
func putTeam(tx *gorm.DB, name string, seconds *int) (team Team, err error) {
	err = tx.Where("name_key = ?", strings.ToLower(name)).Take(&team).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		team = Team{Name: name, NameKey: strings.ToLower(name)}
	} else if err != nil {
		return team, db.ReadError(err, "team %s", name)
	}
	if seconds != nil {
		team.Seconds = *seconds
	}
	return team, db.WriteError(tx.Save(&team).Error, "team %s", name)
}

// RemoveTeam takes a team and its budget away; its members stay. Admins only.
func (b *Budgets) RemoveTeam(ctx context.Context, actor accounts.User, id int64) error {
	if err := actor.Check(accounts.ManageDevices, accounts.Of{}); err != nil {
		return err
	}
	return b.db.Write(ctx, func(tx *gorm.DB) error {
		var team Team
		if err := tx.Take(&team, id).Error; err != nil {
			return db.ReadError(err, "team %d", id)
		}
		if err := tx.Delete(&team).Error; err != nil {
			return db.WriteError(err, "teams without %s", team.Name)
		}
		return accounts.WriteAudit(tx, actor, "remove team", team.Name, "")
	})
}

// LeaveTeam takes a person out of a team, unless they have left it. Admins only.
func (b *Budgets) LeaveTeam(ctx context.Context, actor accounts.User, id, person int64) error {
	if err := actor.Check(accounts.ManageDevices, accounts.Of{}); err != nil {
		return err
	}
	return b.db.Write(ctx, func(tx *gorm.DB) error {
		var team Team
		if err := tx.Take(&team, id).Error; err != nil {
			return db.ReadError(err, "team %d", id)
		}
		var user accounts.User
		if err := tx.Take(&user, person).Error; err != nil {
			return db.ReadError(err, "person %d", person)
		}
		left := tx.Where("team_id = ?", id).Delete(&TeamMember{UserID: person})
		if left.Error != nil || left.RowsAffected == 0 {
			return db.WriteError(left.Error, "team %s without %s", team.Name, user.Name)
		}
		return accounts.WriteAudit(tx, actor, "leave team", user.Name, team.Name)
	})
}

// Teams lists all teams with what their members used today, by name, at most so many.
func (b *Budgets) Teams(ctx context.Context, most int) (list []TeamBudget, err error) {
	tx := b.db.Read(ctx)
	var rows []struct {
		TeamBudget
		MemberID int64
		Member   string
	}
	err = tx.Raw(`select t.id, t.name, t.seconds, coalesce(u.id, 0) as member_id, coalesce(u.name, '') as member, coalesce(c.unit_ns, 0) as used
		from (select * from teams order by name_key limit ?) t left join team_members m on m.team_id = t.id
		left join users u on u.id = m.user_id left join charges c on c.user_id = m.user_id and c.day = ?
		order by t.name_key, u.name_key`, most, dayOf(today(tx))).Scan(&rows).Error
	for _, row := range rows {
		if len(list) == 0 || list[len(list)-1].ID != row.ID {
			list = append(list, TeamBudget{ID: row.ID, Name: row.Name, Seconds: row.Seconds})
		}
		if team := &list[len(list)-1]; row.MemberID != 0 {
			team.Members, team.People, team.Used = team.Members+1, append(team.People, Person{row.MemberID, row.Member}), team.Used+row.Used
		}
	}
	return list, db.ReadError(err, "teams")
}

// Membership is a person's team.
type Membership struct {
	UserID int64
	TeamID int64
	Name   string // the team's
}

// Memberships lists who is in which team.
func (b *Budgets) Memberships(ctx context.Context) (list []Membership, err error) {
	err = b.db.Read(ctx).Table("team_members m").Select("m.user_id, m.team_id, t.name").Joins("join teams t on t.id = m.team_id").Scan(&list).Error
	return list, db.ReadError(err, "members of teams")
}
