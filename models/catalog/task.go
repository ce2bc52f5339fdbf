package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/fleet"
	"warpboard/models/quota"
	"warpboard/tasks"
)

// Visibility selects the people who can see a task.
type Visibility string

// Visibilities.
const (
	Public   Visibility = "public"
	Unlisted Visibility = "unlisted" // anyone with its URL; not in lists
	Members  Visibility = "members"  // people who joined it with an invite code, see package membership
	Hidden   Visibility = "hidden"   // only its owner and admins
)

var visibilities = []Visibility{Public, Unlisted, Members, Hidden}

// Task is a problem with its boards. Its versions contain the files.
type Task struct {
	ID      int64
	Slug    string // name in URLs
	Title   string
	OwnerID int64
	Devices []string `gorm:"serializer:json"` // devices that accept submissions
	// RequestedDevices has the names from which Devices was resolved. "H100" means all devices of that family.
	RequestedDevices []string `gorm:"column:asked;serializer:json"`
	Deadline         *time.Time
	Visibility       Visibility
	// OpensAt is the start of the event at which a hidden task becomes public; see CurrentVisibility.
	OpensAt        *time.Time
	AllowsPractice bool              `gorm:"column:practice"` // also accepts runs after its deadline, as practice
	Limits         []quota.TaskLimit `gorm:"serializer:json"` // limits of each person's submissions
	Origin         string            // "" when uploaded; "builtin" or a folder when installed by the server
	VersionID      int64             // ID of the current version

	// CommentCount is the number of visible comments on the task itself. Package comments updates it.
	CommentCount   int  `gorm:"column:comments"`
	CommentsLocked bool // only moderators may comment

	RemindedDeadline *time.Time `gorm:"column:reminded_of"` // deadline of the last reminder

	CreatedAt time.Time
	UpdatedAt time.Time
}

// AcceptsSubmissions reports whether the task accepts submissions for its boards at a time. The deadline itself is too
// late.
func (t Task) AcceptsSubmissions(at time.Time) bool {
	return t.Deadline == nil || at.Before(*t.Deadline)
}

// NotesArePublic reports whether everyone may read the notes on the task's records. Notes explain why a kernel is fast,
// so they become public after the deadline, or at once if there is none. MaySeeSource is the rule for sources.
func (t Task) NotesArePublic(at time.Time) bool {
	return t.Deadline == nil || !t.AcceptsSubmissions(at)
}

// CurrentVisibility returns the visibility at the current time: a hidden task becomes public at OpensAt. IsPublicSQL is
// the same rule in SQL.
func (t Task) CurrentVisibility() Visibility {
	if t.Visibility == Hidden && t.OpensAt != nil && !db.Now().Before(*t.OpensAt) {
		return Public
	}
	return t.Visibility
}

// VisibleTo reports whether the person may see the task. The function RestrictToVisible is the same rule in SQL.
func (t Task) VisibleTo(u accounts.User) bool { return t.Visibility == Unlisted || t.ListedTo(u) }

// ListedTo reports whether lists show the task to the person. The function RestrictToListed is the same rule in SQL.
func (t Task) ListedTo(u accounts.User) bool {
	return t.CurrentVisibility() == Public || t.Visibility == Members && slices.Contains(u.JoinedTaskIDs, t.ID) || t.EditableBy(u)
}

// EditableBy reports whether the person may change and delete the task: admins may, and creators for their own tasks.
func (t Task) EditableBy(u accounts.User) bool {
	return u.CanPerform(accounts.EditTask, accounts.OwnerIDs{AuthorID: t.OwnerID})
}

// TaskSettings has the properties of a task that can change without a new version.
type TaskSettings struct {
	Title          string // empty for the definition's title, or else the slug
	Devices        []string
	Deadline       *time.Time
	Visibility     Visibility        // empty for Public
	AllowsPractice bool              `gorm:"column:practice"` // accept practice runs after the deadline
	Limits         []quota.TaskLimit // limits of each person's submissions
}

// Settings returns the task's current settings.
func (t Task) Settings() TaskSettings {
	return TaskSettings{
		Title: t.Title, Devices: t.Devices, Deadline: t.Deadline, Visibility: t.CurrentVisibility(),
		AllowsPractice: t.AllowsPractice, Limits: t.Limits,
	}
}

// SettingsWithDeadline returns the task's settings with another deadline and no title, so that the title of a published
// bundle applies.
func (t Task) SettingsWithDeadline(deadline *time.Time) *TaskSettings {
	in := t.Settings()
	in.Title, in.Deadline = "", deadline
	return &in
}

// NewTask describes a task to create from a bundle.
type NewTask struct {
	Slug string // requested name; empty for one from the bundle's name
	TaskSettings
	Origin string
	Bundle *tasks.Bundle
}

// CreateTask creates a task with its first version. It returns Conflict if the slug is taken.
func (s *Catalog) CreateTask(ctx context.Context, actor accounts.User, in NewTask) (Task, error) {
	if err := actor.CheckPermission(accounts.CreateTask, accounts.OwnerIDs{}); err != nil {
		return Task{}, err
	}
	task, err := newTaskRow(actor, in)
	if err != nil {
		return Task{}, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if task.Devices, err = fleet.ResolveDevices(tx, task.RequestedDevices); err != nil {
			return err
		}
		if err := checkBenchmarkDevices(in.Bundle.Definition, task.Devices); err != nil {
			return err
		}
		if err := tx.Create(&task).Error; err != nil {
			return db.WriteError(err, "task")
		}
		version, err := addVersion(tx, actor, task.ID, 1, in.Bundle)
		if err != nil {
			return err
		}
		task.VersionID = version.ID
		if err := tx.Model(&task).Update("version_id", version.ID).Error; err != nil {
			return fmt.Errorf("saving task %s: %w", task.Slug, err)
		}
		return accounts.WriteAudit(tx, actor, "create task", "task "+task.Slug, "")
	})
	return task, err
}

func newTaskRow(actor accounts.User, in NewTask) (Task, error) {
	slug := db.Slug(in.Slug)
	if slug == "" {
		slug = db.Slug(in.Bundle.Name)
	}
	if slug == "" {
		return Task{}, db.Errorf(db.Invalid, "The task needs a name of letters and digits.")
	}
	if in.Title == "" {
		in.Title = in.Bundle.Definition.Title
	}
	task := Task{Slug: slug, OwnerID: actor.ID, Origin: in.Origin, CreatedAt: db.Now(), UpdatedAt: db.Now()}
	return task, task.applySettings(in.TaskSettings)
}

func (t *Task) applySettings(in TaskSettings) error {
	if t.Title = accounts.CleanName(in.Title); t.Title == "" {
		t.Title = t.Slug
	}
	if t.Visibility = in.Visibility; t.Visibility == "" {
		t.Visibility = Public
	}
	if !slices.Contains(visibilities, t.Visibility) {
		return db.Errorf(db.Invalid, "There is no visibility %q: choose public, unlisted, members or hidden.", in.Visibility)
	}
	// OpensAt is past: the task is public now, and only Visibility counts from here on
	if t.OpensAt != nil && !db.Now().Before(*t.OpensAt) {
		t.OpensAt = nil
	}
	if len(in.Devices) == 0 {
		return db.Errorf(db.Invalid, "Choose at least one device for the task.")
	}
	for i, d := range in.Devices {
		if !db.IsValidName(d) {
			return db.Errorf(db.Invalid, "%q is not a valid device name: use letters, digits, '.', '_' and '-', at most 40.", d)
		}
		if slices.Contains(in.Devices[:i], d) {
			return db.Errorf(db.Invalid, "The device %s is named twice.", d)
		}
	}
	if err := quota.CheckLimits(in.Limits); err != nil {
		return err
	}
	if !slices.Equal(in.Devices, t.Devices) {
		t.RequestedDevices, t.Devices = slices.Clone(in.Devices), slices.Clone(in.Devices)
	}
	t.Deadline, t.AllowsPractice = db.NormalizeTimePtr(in.Deadline), in.AllowsPractice
	t.Limits = append([]quota.TaskLimit{}, in.Limits...) // nil would be stored as null
	return nil
}

// UpdateTask changes a task's settings. Waiting runs on a removed device still run.
func (s *Catalog) UpdateTask(ctx context.Context, actor accounts.User, id int64, in TaskSettings) (Task, error) {
	var task Task
	err := s.db.Write(ctx, func(tx *gorm.DB) (err error) {
		if task, err = EditableTask(tx, actor, id); err != nil {
			return err
		}
		if err := task.changeSettings(tx, actor, in); err != nil {
			return err
		}
		var v TaskVersion
		if err := tx.Take(&v, task.VersionID).Error; err != nil {
			return db.ReadError(err, "version of task %s", task.Slug)
		}
		return checkBenchmarkDevices(v.Definition, task.Devices)
	})
	return task, err
}

// checkBenchmarkDevices returns an error for devices on which the task would have no benchmark.
func checkBenchmarkDevices(def tasks.Definition, devices []string) error {
	if device, found := def.WithoutBenchmark(devices); found {
		return db.Errorf(db.Invalid, "No benchmark is for %s. Add it to devices of a benchmark in task.yml, or take it off the task's devices.", device)
	}
	return nil
}

// saveSettings applies settings to the task and saves it.
func (t *Task) saveSettings(tx *gorm.DB, actor accounts.User, in TaskSettings) error {
	before := *t
	err := t.applySettings(in)
	if err == nil {
		t.Devices, err = fleet.ResolveDevices(tx, t.RequestedDevices)
	}
	if err != nil {
		return err
	}
	t.UpdatedAt = db.Now()
	if err := tx.Save(t).Error; err != nil {
		return db.WriteError(err, "task")
	}
	return accounts.WriteAudit(tx, actor, "change task", "task "+t.Slug, before.describeChanges(*t))
}

// describeChanges describes the settings that differ between t and now.
func (t Task) describeChanges(now Task) string {
	deadline := func(t Task) string {
		if t.Deadline == nil {
			return "none"
		}
		return t.Deadline.UTC().Format("2006-01-02 15:04:05")
	}
	var list []string
	for _, f := range []struct{ name, old, new string }{
		{"title", t.Title, now.Title}, {"visibility", string(t.Visibility), string(now.Visibility)}, {"deadline", deadline(t), deadline(now)},
		{"devices", strings.Join(t.Devices, ", "), strings.Join(now.Devices, ", ")}, {"practice", fmt.Sprint(t.AllowsPractice), fmt.Sprint(now.AllowsPractice)},
		{"limits", fmt.Sprint(t.Limits), fmt.Sprint(now.Limits)},
	} {
		if f.old != f.new {
			list = append(list, f.name+": "+f.old+" → "+f.new)
		}
	}
	return strings.Join(list, "; ")
}

// DeleteTask deletes a task with its versions, submissions, and boards. The confirmation must be the task's title or
// slug. Workers stop running attempts after their next heartbeat.
func (s *Catalog) DeleteTask(ctx context.Context, actor accounts.User, id int64, confirmation string) error {
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		task, err := EditableTask(tx, actor, id)
		if err != nil {
			return err
		}
		if confirmation != task.Title && confirmation != task.Slug {
			return db.Errorf(db.Invalid, "To delete the task, type its name: %s", task.Title)
		}
		if err := tx.Delete(&task).Error; err != nil {
			return fmt.Errorf("deleting task %s: %w", task.Slug, err)
		}
		if err := SweepBlobs(tx); err != nil {
			return err
		}
		return accounts.WriteAudit(tx, actor, "delete task", "task "+task.Slug, task.Title)
	})
}

// EditableTask reads a task. It returns Forbidden if the actor may not edit it.
func EditableTask(tx *gorm.DB, actor accounts.User, id int64) (Task, error) {
	var task Task
	if err := tx.Take(&task, id).Error; err != nil {
		return Task{}, db.ReadError(err, "task %d", id)
	}
	if !task.EditableBy(actor) {
		return Task{}, db.Errorf(db.Forbidden, "Only its owner and admins may change the task %s.", task.Title)
	}
	return task, nil
}
