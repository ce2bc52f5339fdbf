package budgets

import (
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// Charge is for how long a person's work held GPUs on a day (UTC), times their number. It outlives the work: deleting runs or
// evaluations gives nothing back.
type Charge struct {
	UserID int64  `gorm:"primaryKey;autoIncrement:false"`
	Day    string `gorm:"primaryKey"` // 2006-01-02
	UnitNS int64  `gorm:"column:unit_ns"`
}

// Add charges a person for GPUs held until now, by a submission, or by an evaluation (0). No one in person (0), or who is
// gone, is charged nothing.
func Add(tx *gorm.DB, person, submission int64, held time.Duration) error {
	if person == 0 || held <= 0 {
		return nil
	}
	if submission > 0 {
		err := tx.Model(&Use{}).Where("submission_id = ?", submission).Update("held_ns", gorm.Expr("held_ns + ?", held.Nanoseconds())).Error
		if err != nil {
			return db.WriteError(err, "use of submission %d", submission)
		}
	}
	err := tx.Exec(`insert into charges (user_id, day, unit_ns) select id, ?, ? from users where id = ?
		on conflict (user_id, day) do update set unit_ns = charges.unit_ns + excluded.unit_ns`,
		dayOf(today(tx)), held.Nanoseconds(), person).Error
	return db.WriteError(err, "charge of person %d", person)
}

func dayOf(t time.Time) string { return t.Format(time.DateOnly) }
