package runs

import (
	"context"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
)

// Validate queues a task's validation script for the first entries of its boards. It returns the number of queued runs.
func (s *Runs) Validate(ctx context.Context, actor accounts.User, task catalog.Task) (queued int, err error) {
	_, queued, err = s.site.Store.QueueValidations(ctx, actor, task.ID)
	if err == nil {
		s.site.Dispatcher.Wake()
		s.site.Hub.QueueChanged()
	}
	return queued, err
}
