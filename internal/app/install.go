package app

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/tasks"
)

// Where the server's own tasks come from, as a task's origin says.
const (
	originBuiltin = "builtin"
	originFolder  = "folder"
)

// installTasks puts the built-in tasks and those below dir on the site, and brings the ones that
// it put there before up to date. A task that was deleted on the site stays deleted; one below dir
// that cannot be used is logged and left out.
func installTasks(ctx context.Context, store *models.Store, dir string, devices []string, log *slog.Logger) error {
	owner, err := store.Accounts.Operator(ctx)
	if err != nil {
		return err
	}
	in := installer{store: store, owner: owner, log: log}
	examples, err := tasks.Examples()
	if err != nil {
		return fmt.Errorf("built-in tasks: %w", err)
	}
	for _, b := range examples {
		if err := in.install(ctx, originBuiltin, installSpec{NewTask: catalog.NewTask{Bundle: b}}); err != nil {
			return err
		}
	}
	if dir == "" {
		return nil
	}
	return in.installFolder(ctx, dir, devices)
}

// installer puts tasks on the site in the operator's name.
type installer struct {
	store *models.Store
	owner accounts.User
	log   *slog.Logger
}

// installSpec is a task as the server's own files have it. One that has a deadline says it there, and a later
// change of it holds for the task too.
type installSpec struct {
	catalog.NewTask
	hasDeadline bool
}

// key changes with all that an installed task follows.
func (w installSpec) key() string {
	if !w.hasDeadline {
		return w.Bundle.Key()
	}
	return w.Bundle.Key() + " until " + w.Deadline.Format(time.RFC3339)
}

// install makes or updates one task of the server's own.
func (i installer) install(ctx context.Context, origin string, task installSpec) error {
	if task.Slug == "" {
		task.Slug = task.Bundle.Name
	}
	task.Slug, task.Origin = db.Slug(task.Slug), origin
	if len(task.Devices) == 0 {
		task.Devices = task.Bundle.Definition.GPUs
	}
	// The mark outlives the task: it is how a task that an admin deleted is known at the next start. It is written after
	// the task, so that a death in between publishes the same bundle again, which makes no new version.
	mark := "installed." + task.Slug
	before, err := i.store.Setting(ctx, mark)
	if err != nil {
		return err
	}
	key := task.key()
	if before == key {
		return nil
	}
	if err := i.publish(ctx, task, before == ""); err != nil {
		return fmt.Errorf("task %s: %w", task.Slug, err)
	}
	i.log.Info("task installed", "task", task.Slug, "origin", origin)
	return i.store.SetSetting(ctx, mark, key)
}

func (i installer) publish(ctx context.Context, in installSpec, first bool) error {
	task, err := i.store.Catalog.Task(ctx, in.Slug)
	missing := err != nil && db.KindOf(err) == db.NotFound
	switch {
	case missing && !first:
		return nil // it was deleted on the site
	case missing:
		_, err = i.store.Catalog.CreateTask(ctx, i.owner, in.NewTask)
		return err
	case err != nil:
		return err
	// It is marked as installed all the same, and stays theirs when the file changes.
	case task.Origin != in.Origin:
		return nil // someone made a task of this name; it is theirs
	}
	var settings *catalog.TaskSettings
	if in.hasDeadline {
		settings = task.Until(in.Deadline)
	}
	_, _, err = i.store.Catalog.Publish(ctx, i.owner, task.ID, in.Bundle, settings)
	return err
}
