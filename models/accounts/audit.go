package accounts

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// AuditEntry is one entry of the audit log: an action by an admin, a creator, or the operator that affects what others
// see.
type AuditEntry struct {
	ID        int64
	ActorID   int64 // 0 if the operator acted, with a flag or a command of the server
	ActorName string
	ActName   string `gorm:"column:act"` // such as "disqualify"
	Subject   string // such as "run 17"
	Detail    string
	CreatedAt time.Time

	SubjectName string `gorm:"-"` // display name of the subject, a person or a run; set by AuditLog
}

// TableName returns the table of audit entries.
func (AuditEntry) TableName() string { return "audits" }

// maxAuditedActionsPerHour limits the audited actions of one person per hour, except those of admins and of the
// operator.
const maxAuditedActionsPerHour = 1000

// WriteAudit adds an entry to the audit log in the transaction of the action. It returns TooMany if the person has
// exceeded the limit of the last hour.
func WriteAudit(tx *gorm.DB, actor User, act, subject, detail string) error {
	if actor.ID != 0 && !actor.IsAdmin() {
		var done int64
		if err := tx.Model(&AuditEntry{}).Where("actor_id = ? and created_at > ?", actor.ID, db.Now().Add(-time.Hour)).Count(&done).Error; err != nil {
			return db.ReadError(err, "the audit log")
		}
		if done >= maxAuditedActionsPerHour {
			return db.TooManyf(10*time.Minute, "You have changed something %d times in an hour, the most that is noted. Try again later.", done)
		}
	}
	row := AuditEntry{
		ActorID: actor.ID, ActorName: actor.Name, ActName: act, Subject: subject, Detail: db.SanitizeText(detail),
		CreatedAt: db.Now(),
	}
	return db.WriteError(tx.Create(&row).Error, "line of the audit log")
}

// AuditLog lists entries of the audit log with IDs below before (0 means all), newest first. search matches the name of
// the actor, a subject such as "task sort", or a submission such as "#57" with its runs. Only admins may call it.
func (s *Accounts) AuditLog(ctx context.Context, actor User, search string, before int64, limit int) ([]AuditEntry, error) {
	if err := actor.CheckPermission(ReadAuditLog, OwnerIDs{}); err != nil {
		return nil, err
	}
	var rows []AuditEntry
	q := s.db.Read(ctx).Order("id desc").Limit(limit)
	if search != "" {
		number, _ := strconv.ParseInt(strings.TrimPrefix(search, "#"), 10, 64)
		q = q.Where("subject = ? or actor_name = ? or subject = ? or subject in (select 'run ' || cast(id as text) from runs where submission_id = ? and profile_of is null)",
			search, search, fmt.Sprintf("submission %d", number), number)
	}
	if before > 0 {
		q = q.Where("id < ?", before)
	}
	if err := q.Find(&rows).Error; err != nil {
		return nil, db.ReadError(err, "the audit log")
	}
	if err := s.addSubjectNames(ctx, rows); err != nil {
		return nil, err
	}
	return rows, s.addSubmissionNumbers(ctx, rows)
}

// subjectID returns the ID of the entry's subject if the kind of the subject is one of kinds, or 0.
func (a AuditEntry) subjectID(kinds ...string) int64 {
	kind, number, _ := strings.Cut(a.Subject, " ")
	if !slices.Contains(kinds, kind) {
		return 0
	}
	id, _ := strconv.ParseInt(number, 10, 64)
	return id
}

// subjectPersonID returns the ID of the person whom the action affected, or 0.
func (a AuditEntry) subjectPersonID() int64 { return a.subjectID("user", "person") }

// addSubmissionNumbers adds the submission's number to each entry about a run, because pages show submissions, not
// runs.
func (s *Accounts) addSubmissionNumbers(ctx context.Context, rows []AuditEntry) error {
	var ids []int64
	for _, row := range rows {
		if id := row.subjectID("run"); id != 0 {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var found []struct {
		ID, SubmissionID int64
		Device           string
	}
	if err := s.db.Read(ctx).Table("runs").Select("id, submission_id, device").Where("id in ?", ids).Scan(&found).Error; err != nil {
		return db.ReadError(err, "runs of the audit log")
	}
	for _, run := range found {
		for i := range rows {
			if rows[i].subjectID("run") == run.ID {
				rows[i].SubjectName = fmt.Sprintf("#%d on %s", run.SubmissionID, run.Device)
			}
		}
	}
	return nil
}

// addSubjectNames adds the person's name to each entry about a person.
func (s *Accounts) addSubjectNames(ctx context.Context, rows []AuditEntry) error {
	names := map[int64]string{}
	for _, row := range rows {
		if id := row.subjectPersonID(); id != 0 {
			names[id] = ""
		}
	}
	if len(names) == 0 {
		return nil
	}
	var found []User
	if err := s.db.Read(ctx).Select("id, name").Where("id in ?", slices.Collect(maps.Keys(names))).Find(&found).Error; err != nil {
		return db.ReadError(err, "people of the audit log")
	}
	for _, u := range found {
		names[u.ID] = u.Name
	}
	for i := range rows {
		rows[i].SubjectName = names[rows[i].subjectPersonID()]
	}
	return nil
}

// RunDecisions lists the audited decisions about a run, oldest first. They are public.
func (s *Accounts) RunDecisions(ctx context.Context, runID int64) ([]AuditEntry, error) {
	var rows []AuditEntry
	err := s.db.Read(ctx).Where("subject = ? and act in ('disqualify', 'reinstate')", fmt.Sprintf("run %d", runID)).Order("id").Find(&rows).Error
	return rows, db.ReadError(err, "decisions about run %d", runID)
}
