package submissions

import (
	"time"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
)

// AdminSubmission describes a submission that an admin adds for another person, possibly after the deadline. It does
// not count for limits. The zero value means that the person submits.
type AdminSubmission struct {
	PersonName string        `gorm:"column:for"` // the person's name; the site fills in NewSubmission.User
	Admin      accounts.User `gorm:"column:by"`
	Reason     string        `gorm:"column:why"` // shown to everyone
}

// maxReasonLength limits AdminSubmission.Reason, in characters.
const maxReasonLength = 280

func (a AdminSubmission) check() error {
	switch n := len([]rune(a.Reason)); {
	case !a.Admin.SignedIn() && a.Reason != "":
		return db.Errorf(db.Invalid, "A reason belongs to a submission that you add for another person: name the person, too.")
	case !a.Admin.SignedIn():
		return nil
	case n == 0:
		return db.Errorf(db.Invalid, "Say why you add this submission: everyone can read it on the submission's page.")
	case n > maxReasonLength:
		return db.Errorf(db.Invalid, "The reason has %d characters; at most %d are kept.", n, maxReasonLength)
	}
	return a.Admin.CheckPermission(accounts.AddSubmission, accounts.OwnerIDs{})
}

// isTooLate reports whether the person submits after the deadline. Admins may add a submission at any time.
func (in NewSubmission) isTooLate(task catalog.Task, at time.Time) bool {
	return !task.AcceptsSubmissions(at) && !in.AddedByAdmin.Admin.SignedIn()
}
