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

// Origins of tasks that the server installs.
const (
	taskOriginBuiltin = "builtin"
	taskOriginFolder  = "folder"
)

// installTasks installs the built-in tasks and those in dir on the site, and updates those that it installed before. A
// task that was deleted on the site stays deleted; an invalid task in dir is logged and skipped.
func installTasks(ctx context.Context, store *models.Store, dir string, devices []string, log *slog.Logger) error {
	owner, err := store.Accounts.OperatorAccount(ctx)
	if err != nil {
		return err
	}
	in := installer{siteStore: store, tasksOwner: owner, log: log}
	examples, err := tasks.Examples()
	if err != nil {
		return fmt.Errorf("built-in tasks: %w", err)
	}
	for _, b := range examples {
		if err := in.install(ctx, taskOriginBuiltin, taskToInstall{NewTask: catalog.NewTask{Bundle: b}}); err != nil {
			return err
		}
	}
	if dir == "" {
		return nil
	}
	return in.installFolder(ctx, dir, devices)
}

// installer installs tasks with the operator as their author.
type installer struct {
	siteStore  *models.Store
	tasksOwner accounts.User
	log        *slog.Logger
}

// taskToInstall is a task to install. If it sets a deadline, later changes of the deadline are installed, too.
type taskToInstall struct {
	catalog.NewTask
	hasDeadline bool
}

// contentHash returns a hash of everything on which an installed task depends.
func (w taskToInstall) contentHash() string {
	if !w.hasDeadline {
		return w.Bundle.ContentHash()
	}
	return w.Bundle.ContentHash() + " until " + w.Deadline.Format(time.RFC3339)
}

// install creates or updates one task.
func (i installer) install(ctx context.Context, origin string, task taskToInstall) error {
	if task.Slug == "" {
		task.Slug = task.Bundle.Name
	}
	task.Slug, task.Origin = db.Slug(task.Slug), origin
	if len(task.Devices) == 0 {
		task.Devices = task.Bundle.Definition.GPUs
	}
	// The setting is kept after the task is deleted, so that a task deleted by an admin is recognized at the next
	// start. It is written after the task: after a crash in between, the next start publishes the same bundle again,
	// which creates no new version.
	mark := "installed." + task.Slug
	before, err := i.siteStore.Setting(ctx, mark)
	if err != nil {
		return err
	}
	key := task.contentHash()
	if before == key {
		return nil
	}
	if err := i.publishTask(ctx, task, before == ""); err != nil {
		return fmt.Errorf("task %s: %w", task.Slug, err)
	}
	i.log.Info("task installed", "task", task.Slug, "origin", origin)
	return i.siteStore.SetSetting(ctx, mark, key)
}

func (i installer) publishTask(ctx context.Context, in taskToInstall, first bool) error {
	task, err := i.siteStore.Catalog.Task(ctx, in.Slug)
	missing := err != nil && db.KindOf(err) == db.NotFound
	switch {
	case missing && !first:
		return nil // an admin deleted the task on the site, so it stays deleted
	case missing:
		_, err = i.siteStore.Catalog.CreateTask(ctx, i.tasksOwner, in.NewTask)
		return err
	case err != nil:
		return err
	// A task of a person has the same name. It is treated as installed, and is not changed when the file changes.
	case task.Origin != in.Origin:
		return nil // a person created a task with this name
	}
	var settings *catalog.TaskSettings
	if in.hasDeadline {
		settings = task.SettingsWithDeadline(in.Deadline)
	}
	_, _, err = i.siteStore.Catalog.Publish(ctx, i.tasksOwner, task.ID, in.Bundle, settings)
	return err
}
