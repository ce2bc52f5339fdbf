package catalog

import (
	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
)

// joinedTaskSQL is the condition that task t has visibility "members" and that a person has joined it.
const joinedTaskSQL = "t.visibility = 'members' and t.id in (select m.task_id from members m where m.user_id = ? and m.removed_at is null)"

// IsPublicSQL is the condition that task t is public at a time (its parameter), as in Task.CurrentVisibility.
const IsPublicSQL = "(t.visibility = 'public' or t.visibility = 'hidden' and t.opens_at <= ?)"

// RestrictToVisible restricts a query of tasks t to those that the viewer may see. It must agree with Task.VisibleTo.
func RestrictToVisible(q *gorm.DB, viewer accounts.User) *gorm.DB {
	return visibleTasks(q, viewer, "t.visibility = 'unlisted' or "+IsPublicSQL)
}

// RestrictToListed restricts a query of tasks t to those that lists show to the viewer. It must agree with
// Task.ListedTo.
func RestrictToListed(q *gorm.DB, viewer accounts.User) *gorm.DB {
	return visibleTasks(q, viewer, IsPublicSQL)
}

// RestrictToActivityOf restricts a query of tasks t, for a list of one person's activity, to those that lists show to
// the viewer (RestrictToListed). In lists of their own activity people see every task that they may see.
func RestrictToActivityOf(q *gorm.DB, viewer accounts.User, userID int64) *gorm.DB {
	if viewer.SignedIn() && viewer.ID == userID {
		return RestrictToVisible(q, viewer)
	}
	return RestrictToListed(q, viewer)
}

func visibleTasks(q *gorm.DB, viewer accounts.User, open string) *gorm.DB {
	switch {
	case viewer.IsAdmin():
		return q
	case !viewer.SignedIn():
		return q.Where(open, db.Now())
	}
	author := viewer.ID
	if !viewer.MayCreateTasks() { // former creators may not see their own hidden tasks
		author = 0
	}
	return q.Where(open+" or t.owner_id = ? or "+joinedTaskSQL, db.Now(), author, viewer.ID)
}

// RestrictToViewersOf restricts a query of people u to those who may see the task. It must agree with Task.VisibleTo.
func RestrictToViewersOf(q *gorm.DB, t Task) *gorm.DB {
	if t.CurrentVisibility() == Public || t.Visibility == Unlisted {
		return q
	}
	sees := "u.role = 'admin' or u.role = 'creator' and u.id = ?"
	if t.Visibility == Members {
		return q.Where(sees+" or u.id in (select m.user_id from members m where m.task_id = ? and m.removed_at is null)", t.OwnerID, t.ID)
	}
	return q.Where(sees, t.OwnerID)
}
