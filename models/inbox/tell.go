package inbox

import (
	"context"
	"time"

	"gorm.io/gorm"

	"warpboard/models/catalog"
	"warpboard/models/db"
)

const (
	// minRunTimeForNotice is the shortest time between submission and end for which a person gets a notice. After a
	// shorter time the person is probably still on the page.
	minRunTimeForNotice = time.Minute
	// reminderBeforeDeadline is the time between a reminder and the deadline.
	reminderBeforeDeadline = 24 * time.Hour

	maxNotifiedOfPlace   = 10   // limit of people who get a notice of one run that passed them
	maxNotifiedOfComment = 30   // limit of people who get a notice of one comment
	maxPeopleReminded    = 2000 // limit of people who get a reminder of one deadline
)

// RunEndedNotices returns the notice for the person whose run took long. Runs of a trial cause no notices, because one
// page shows all of them.
func RunEndedNotices(tx *gorm.DB, runID int64) ([]Notice, error) {
	var runs []struct {
		Notice
		QueuedAt, EndedAt *time.Time
	}
	err := tx.Raw(`select r.user_id, v.task_id, r.submission_id, r.device, r.state, r.queued_at, r.ended_at
		from runs r join task_versions v on v.id = r.version_id join submissions s on s.id = r.submission_id
		where r.id = ? and r.profile_of is null and s.via <> 'trial'`, runID).Scan(&runs).Error
	if err != nil || len(runs) == 0 {
		return nil, db.ReadError(err, "run %d", runID)
	}
	r := runs[0]
	if r.QueuedAt == nil || r.EndedAt == nil || r.EndedAt.Sub(*r.QueuedAt) < minRunTimeForNotice {
		return nil, nil
	}
	r.Notice.Kind = RunEnded
	return []Notice{r.Notice}, nil
}

// PlaceNotices returns the notices about a run's new rank: for the former holder of the record (holder; 0 means none),
// for people who were ahead and are now in a later band, and for the run's person after a confirmation. previous is the
// person's earlier score on the board, or 0.
func PlaceNotices(tx *gorm.DB, runID, holder int64, previous float64) (list []Notice, err error) {
	var frozen int64
	now := db.NormalizeTime(tx.NowFunc())
	err = tx.Table("events").Where("frozen_at <= ? and revealed_at is null and id in (select event_id from event_tasks where task_id = "+
		"(select v.task_id from runs r join task_versions v on v.id = r.version_id where r.id = ?))", now, runID).Limit(1).Count(&frozen).Error
	if err != nil || frozen > 0 { // a frozen event: its standings, and so ranks, do not change
		return nil, db.ReadError(err, "events of run %d", runID)
	}
	var e boardEntry
	res := tx.Raw(`select e.version_id, e.device, e.age, e.score_ns, e.achieved_at, e.user_id, v.task_id from runs r join task_versions v on v.id = r.version_id
		join entries e on e.version_id = r.version_id and e.device = r.device and e.user_id = r.user_id where r.id = ?`, runID).Scan(&e)
	if res.Error != nil || res.RowsAffected == 0 {
		return nil, db.ReadError(res.Error, "entry of run %d", runID)
	}
	first, err := e.isFirst(tx)
	if err != nil {
		return nil, err
	}
	if holder != 0 && holder != e.UserID && first {
		list = append(list, Notice{
			UserID:  holder,
			Kind:    RecordLost,
			TaskID:  e.TaskID,
			Device:  e.Device,
			ActorID: e.UserID,
		})
	}
	if list, err = e.addConfirmation(tx, runID, first, list); err != nil {
		return nil, err
	}
	behind, err := e.passedPeople(tx, previous)
	for _, id := range behind {
		if id != holder {
			list = append(list, Notice{
				UserID:  id,
				Kind:    PlaceLost,
				TaskID:  e.TaskID,
				Device:  e.Device,
				ActorID: e.UserID,
			})
		}
	}
	return list, err
}

// boardEntry has the columns of an entry that decide who is behind it.
type boardEntry struct {
	VersionID    int64
	Device       string
	EpochSortKey int64   `gorm:"column:age"`
	ScoreNS      float64 `gorm:"column:score_ns"`
	AchievedAt   time.Time
	UserID       int64
	TaskID       int64
}

// isFirst reports whether no entry is ahead of e.
func (e boardEntry) isFirst(tx *gorm.DB) (bool, error) {
	var people []int64
	err := tx.Table("entries").Where("version_id = ? and device = ?", e.VersionID, e.Device).Order("age, score_ns, run_id").Limit(1).Pluck("user_id", &people).Error
	return len(people) > 0 && people[0] == e.UserID, db.ReadError(err, "entries")
}

// addConfirmation adds a notice for the person about the result of the run's confirmation, if it had one.
func (e boardEntry) addConfirmation(tx *gorm.DB, runID int64, first bool, list []Notice) ([]Notice, error) {
	var ended int64
	err := tx.Table("runs").Where("id = ? and was_ns is not null", runID).Limit(1).Count(&ended).Error
	if err != nil || ended == 0 {
		return list, db.ReadError(err, "confirmation of run %d", runID)
	}
	own := Notice{UserID: e.UserID, Kind: FirstPlaceRerun, TaskID: e.TaskID, Device: e.Device}
	if first {
		own.RunState = stillFirstAfterConfirmation
	}
	return append(list, own), nil
}

// passedPeople lists the people who were overtaken: their entries are in later bands, are older than e, and are faster
// than the person's previous score. It reads nothing if e is not among the first entries.
func (e boardEntry) passedPeople(tx *gorm.DB, previous float64) (people []int64, err error) {
	of := func(table string) *gorm.DB {
		return tx.Table(table).Where("version_id = ? and device = ? and age = ?", e.VersionID, e.Device, e.EpochSortKey)
	}
	var bands []struct {
		ScoreNS float64 `gorm:"column:score_ns"`
		Ahead   int
	}
	err = of("bands").Select("score_ns, ahead").Where("score_ns <= ?", e.ScoreNS).Order("score_ns desc, run_id desc").Limit(1).Scan(&bands).Error
	if err != nil || len(bands) == 0 || bands[0].Ahead >= maxNotifiedOfPlace {
		return nil, db.ReadError(err, "bands")
	}
	var next []float64
	if err := of("bands").Where("score_ns > ?", e.ScoreNS).Order("score_ns, run_id").Limit(1).Pluck("score_ns", &next).Error; err != nil || len(next) == 0 {
		return nil, db.ReadError(err, "bands")
	}
	q := of("entries").Where("score_ns >= ? and achieved_at < ? and user_id <> ?", next[0], db.NormalizeTime(e.AchievedAt), e.UserID)
	if previous > 0 {
		q = q.Where("score_ns < ?", previous)
	}
	err = q.Order("score_ns, run_id").Limit(maxNotifiedOfPlace).Pluck("user_id", &people).Error
	return people, db.ReadError(err, "entries")
}

// CommentNotices returns the notices about a comment: for the author of the task or submission, and for people who
// commented there before, latest first.
func CommentNotices(tx *gorm.DB, commentID int64) (list []Notice, err error) {
	var found []struct {
		UserID, TaskID, AuthorID int64
		SubmissionID             *int64
	}
	err = tx.Raw(`select c.user_id, c.task_id, c.submission_id, coalesce(s.user_id, t.owner_id) as author_id
		from comments c join tasks t on t.id = c.task_id left join submissions s on s.id = c.submission_id
		where c.id = ? and c.hidden_at is null and c.removed_at is null and (c.submission_id is null or s.frozen_event = 0 and t.deadline <= ?)`,
		commentID, db.NormalizeTime(tx.NowFunc())).Scan(&found).Error
	if err != nil || len(found) == 0 {
		return nil, db.ReadError(err, "comment %d", commentID)
	}
	c := found[0]
	q := tx.Table("comments").Where("id < ? and removed_at is null and hidden_at is null", commentID)
	if c.SubmissionID != nil {
		q = q.Where("submission_id = ?", *c.SubmissionID)
	} else {
		q = q.Where("task_id = ? and submission_id is null", c.TaskID)
	}
	var people []int64
	if err := q.Group("user_id").Order("max(id) desc").Limit(maxNotifiedOfComment).Pluck("user_id", &people).Error; err != nil {
		return nil, db.ReadError(err, "people of comment %d", commentID)
	}
	for _, id := range append([]int64{c.AuthorID}, people...) {
		if id != c.UserID {
			list = append(list, Notice{
				UserID: id, Kind: CommentAdded, TaskID: c.TaskID, SubmissionID: c.SubmissionID,
				CommentID: &commentID, ActorID: c.UserID,
			})
		}
	}
	return list, nil
}

// DeadlineNotices returns the reminders of a task's deadline for the people who have submitted to it, latest first.
func DeadlineNotices(tx *gorm.DB, taskID int64) (list []Notice, err error) {
	err = tx.Raw(`select s.user_id, s.task_id, 'deadline.near' as kind from submissions s where s.task_id = ?
		group by s.user_id, s.task_id order by max(s.id) desc limit ?`, taskID, maxPeopleReminded).Scan(&list).Error
	return list, db.ReadError(err, "people of task %d", taskID)
}

// TakeDueReminders lists the tasks whose reminders are due, and marks them as reminded. In a transaction, each deadline
// is returned to one process only.
func TakeDueReminders(tx *gorm.DB) (tasks []int64, err error) {
	if err := tasksClosingSoon(tx).Order("id").Pluck("id", &tasks).Error; err != nil || len(tasks) == 0 {
		return nil, db.ReadError(err, "tasks that close")
	}
	err = tx.Model(&catalog.Task{}).Where("id in ?", tasks).UpdateColumn("reminded_of", gorm.Expr("deadline")).Error
	return tasks, db.WriteError(err, "tasks that close")
}

// tasksClosingSoon selects the tasks that close soon and whose deadline has had no reminders.
func tasksClosingSoon(tx *gorm.DB) *gorm.DB {
	now := db.NormalizeTime(tx.NowFunc())
	return tx.Model(&catalog.Task{}).Where("deadline > ? and deadline <= ? and (reminded_of is null or reminded_of <> deadline)", now, db.NormalizeTime(now.Add(reminderBeforeDeadline)))
}

// HasDueReminders reports whether TakeDueReminders would return tasks. It needs no transaction.
func (x *Inbox) HasDueReminders(ctx context.Context) (bool, error) {
	var n int64
	err := tasksClosingSoon(x.db.Read(ctx)).Limit(1).Count(&n).Error
	return n > 0, db.ReadError(err, "tasks that close")
}

// AddNotices stores notices about one task and queues their mails. It skips people who may not see the task, turned off
// the kind, or have an unread notice of the same kind and subject. It returns the stored notices.
func (x *Inbox) AddNotices(tx *gorm.DB, list []Notice) ([]NamedNotice, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var task catalog.Task
	if err := tx.Limit(1).Find(&task, list[0].TaskID).Error; err != nil || task.ID == 0 {
		return nil, db.ReadError(err, "task %d", list[0].TaskID)
	}
	ids := make([]int64, len(list))
	for i, n := range list {
		ids[i] = n.UserID
	}
	people, err := readRecipients(tx, task, ids)
	if err != nil {
		return nil, err
	}
	made, known := make([]Notice, 0, len(list)), map[int64]bool{}
	for _, n := range list {
		p, hears := people[n.UserID]
		if !hears || known[n.UserID] || p.IsKindOff(n.Kind) || p.hasUnreadNotice(n) {
			continue
		}
		known[n.UserID] = true
		n.ID, n.CreatedAt = 0, db.Now()
		made = append(made, n)
	}
	if len(made) == 0 {
		return nil, nil
	}
	if err := tx.CreateInBatches(&made, 200).Error; err != nil {
		return nil, db.WriteError(err, "notices")
	}
	notices, err := addTaskAndPeopleNames(tx, made, task)
	if err == nil && x.sendsMail {
		err = x.queueNoticeMails(tx, notices)
	}
	return notices, err
}

// addTaskAndPeopleNames adds the names of the task and of people to notices.
func addTaskAndPeopleNames(tx *gorm.DB, made []Notice, task catalog.Task) ([]NamedNotice, error) {
	var actor struct{ Name string }
	if err := tx.Table("users").Where("id = ?", made[0].ActorID).Limit(1).Scan(&actor).Error; err != nil {
		return nil, db.ReadError(err, "person %d", made[0].ActorID)
	}
	list := make([]NamedNotice, len(made))
	for i, n := range made {
		list[i] = NamedNotice{
			Notice:    n,
			ActorName: actor.Name,
			TaskSlug:  task.Slug,
			TaskTitle: task.Title,
			Deadline:  task.Deadline,
		}
	}
	return list, nil
}

// recipient is a person who may receive a notice, with their unread notices.
type recipient struct {
	NoticeChoices
	unreadNotices []Notice
}

// hasUnreadNotice reports whether the person has an unread notice of the same kind and subject.
func (h recipient) hasUnreadNotice(n Notice) bool {
	for _, o := range h.unreadNotices {
		if o.Kind == n.Kind && o.TaskID == n.TaskID && o.Device == n.Device && equalIDs(o.SubmissionID, n.SubmissionID) {
			return true
		}
	}
	return false
}

func equalIDs(a, b *int64) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

// readRecipients returns the people among ids who may see the task and are not blocked.
func readRecipients(tx *gorm.DB, task catalog.Task, ids []int64) (map[int64]recipient, error) {
	var sees []int64
	err := catalog.RestrictToViewersOf(tx.Table("users u").Where("u.id in ? and u.blocked_at is null", ids), task).Pluck("u.id", &sees).Error
	if err != nil {
		return nil, db.ReadError(err, "people of task %s", task.Slug)
	}
	found := make(map[int64]recipient, len(sees))
	for _, id := range sees {
		found[id] = recipient{NoticeChoices: NoticeChoices{UserID: id}}
	}
	var chosen []NoticeChoices
	if err := tx.Where("user_id in ?", sees).Find(&chosen).Error; err != nil {
		return nil, db.ReadError(err, "choices")
	}
	for _, c := range chosen {
		found[c.UserID] = recipient{NoticeChoices: c}
	}
	var news []Notice
	err = tx.Table("notices n").Joins("join users w on w.id = n.user_id").Where("n.user_id in ? and n.id > w.inbox_read and n.task_id = ?", sees, task.ID).
		Select("n.*").Scan(&news).Error
	for _, n := range news {
		h := found[n.UserID]
		h.unreadNotices = append(h.unreadNotices, n)
		found[n.UserID] = h
	}
	return found, db.ReadError(err, "notices")
}
