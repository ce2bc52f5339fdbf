package catalog

import (
	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
)

// joinedBoardsSQL is the condition that task t has visibility "members" and that a person has joined it.
const joinedBoardsSQL = "t.visibility = 'members' and t.id in (select m.task_id from members m where m.user_id = ? and m.removed_at is null)"

// IsPublic is the condition that task t is public at a time (its parameter), as in Task.CurrentVisibility.
const IsPublic = "(t.visibility = 'public' or t.visibility = 'hidden' and t.opens_at <= ?)"

// VisibleTo restricts a query of tasks t to those that the viewer may see. It must agree with Task.VisibleTo.
func VisibleTo(q *gorm.DB, viewer accounts.User) *gorm.DB {
	return visibleTasks(q, viewer, "t.visibility = 'unlisted' or "+IsPublic)
}

// ListedTo restricts a query of tasks t to those that lists show to the viewer. It must agree with Task.ListedTo.
func ListedTo(q *gorm.DB, viewer accounts.User) *gorm.DB {
	return visibleTasks(q, viewer, IsPublic)
}

// ListedOf is ListedTo for the activity of one person. In lists of their own activity people see every task that they
// may see.
func ListedOf(q *gorm.DB, viewer accounts.User, userID int64) *gorm.DB {
	if viewer.SignedIn() && viewer.ID == userID {
		return VisibleTo(q, viewer)
	}
	return ListedTo(q, viewer)
}

func visibleTasks(q *gorm.DB, viewer accounts.User, open string) *gorm.DB {
	switch {
	case viewer.IsAdmin():
		return q
	case !viewer.SignedIn():
		return q.Where(open, db.Now())
	}
	author := viewer.ID
	if !viewer.MayCreateTasks() { // they can no longer edit their tasks
		author = 0
	}
	return q.Where(open+" or t.owner_id = ? or "+joinedBoardsSQL, db.Now(), author, viewer.ID)
}

// PeopleWhoSee restricts a query of people u to those who may see the task. It must agree with Task.VisibleTo.
func PeopleWhoSee(q *gorm.DB, t Task) *gorm.DB {
	if t.CurrentVisibility() == Public || t.Visibility == Unlisted {
		return q
	}
	sees := "u.role = 'admin' or u.role = 'creator' and u.id = ?"
	if t.Visibility == Members {
		return q.Where(sees+" or u.id in (select m.user_id from members m where m.task_id = ? and m.removed_at is null)", t.OwnerID, t.ID)
	}
	return q.Where(sees, t.OwnerID)
}
