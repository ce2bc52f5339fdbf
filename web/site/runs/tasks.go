package runs

import (
	"context"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/tasks"
)

// CreateTask creates a task and queues its baselines. UpdateTask and PublishTask also queue baselines that are new. If
// a baseline cannot be queued, CreateTask returns an error although the task was created.
func (s *Runs) CreateTask(ctx context.Context, actor accounts.User, in catalog.NewTask) (catalog.Task, error) {
	task, err := s.site.Store.Catalog.CreateTask(ctx, actor, in)
	return task, s.startBaselines(ctx, task.ID, err)
}

// UpdateTask changes the settings of a task.
func (s *Runs) UpdateTask(
	ctx context.Context, actor accounts.User, id int64, in catalog.TaskSettings,
) (catalog.Task, error) {
	task, err := s.site.Store.Catalog.UpdateTask(ctx, actor, id, in)
	return task, s.startBaselines(ctx, id, err)
}

// PublishTask makes a bundle the current version of a task, and changes the task's settings unless they are nil.
func (s *Runs) PublishTask(
	ctx context.Context, actor accounts.User, id int64, b *tasks.Bundle, settings *catalog.TaskSettings,
) (catalog.TaskVersion, catalog.ChangeKind, error) {
	version, change, err := s.site.Store.Catalog.Publish(ctx, actor, id, b, settings)
	return version, change, s.startBaselines(ctx, id, err)
}

func (s *Runs) startBaselines(ctx context.Context, taskID int64, err error) error {
	if err != nil {
		return err
	}
	queued, err := s.site.Store.StartBaselines(ctx, taskID)
	if queued > 0 {
		s.site.Dispatcher.Wake()
	}
	return err
}
