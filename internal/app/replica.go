package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"warpboard/evaluator/dispatch"
	"warpboard/evaluator/queue"
	"warpboard/models"
	"warpboard/web"
)

// readReplicaName returns the name of this process among those of one site. It is stored in the data directory, which
// processes do not share. A copied data directory results in two processes with the same name, whose workers would have
// the same name, too: restore a backup instead, or delete this file in the copy.
func readReplicaName(data string) (string, error) {
	path := filepath.Join(data, "replica")
	kept, err := os.ReadFile(path)
	if err == nil && len(kept) > 0 {
		return strings.TrimSpace(string(kept)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("--data: reading the name of this process: %w", err)
	}
	name := rand.Text()
	if err := os.WriteFile(path, []byte(name+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("--data: writing the name of this process: %w", err)
	}
	return name, nil
}

// shareViewerChanges exchanges announcements with the other processes on the same queue, so that viewers of each see
// all changes. Each announcement may mean new work for the dispatcher.
func shareViewerChanges(
	q *queue.Queue, hub *web.Hub, dispatcher *dispatch.Dispatcher, store *models.Store,
) (listen func(context.Context) error) {
	if !q.IsShared() {
		return func(context.Context) error { return nil }
	}
	hub.ConnectProcesses(q.AnnounceChange, store.Work)
	return func(ctx context.Context) error {
		return q.ReceiveChanges(ctx, func(announcement []byte) error {
			dispatcher.Wake()
			return hub.ReceiveAnnouncement(announcement)
		}, hub.AnnouncementsMissed)
	}
}

// reserveWorkerName reserves a name for the site's own worker before other workers can join with it.
func reserveWorkerName(ctx context.Context, cfg *Config, store *models.Store, id string, log *slog.Logger) error {
	if cfg.NoWorker {
		return nil
	}
	name, err := store.Fleet.ClaimName(ctx, cfg.Worker.Name, id)
	if err == nil && name != cfg.Worker.Name {
		log.Info("another worker has this name", "wanted", cfg.Worker.Name, "name", name)
		cfg.Worker.Name = name
	}
	return err
}
