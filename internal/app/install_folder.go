package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/tasks"
)

// installFolder installs the tasks in dir. An invalid task does not stop the other tasks or the site. Tasks without
// devices get devices.
func (i installer) installFolder(ctx context.Context, dir string, devices []string) error {
	wanted, err := i.readFolder(dir)
	if err != nil {
		return fmt.Errorf("--tasks %s: %w", dir, err)
	}
	for _, task := range wanted {
		if len(task.Devices) == 0 && len(task.Bundle.Definition.GPUs) == 0 {
			task.Devices = devices
		}
		err := i.install(ctx, taskOriginFolder, task)
		// A problem of one task is logged, and the next is tried; if the database fails, all would fail.
		if kind := db.KindOf(err); err != nil && (kind == db.Internal || kind == db.Unavailable) {
			return err
		}
		if err != nil {
			i.logSkipped(dir, err)
		}
	}
	return nil
}

func (i installer) logSkipped(where string, err error) {
	i.log.Error("task not installed", "where", where, "why", err)
}

// readFolder reads the problem sets in dir or, if there are none, its task folders. Links to files outside of dir are
// refused.
func (i installer) readFolder(dir string) ([]taskToInstall, error) {
	// os.Root is necessary, because people other than the operator may write to the directory.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("it is not a directory that can be read: %w", err)
	}
	defer root.Close()
	upload := tasks.OpenFolder(root.FS(), tasks.ReadOptions{Name: filepath.Base(dir)})
	sets, err := upload.ProblemSets(time.Now().UTC())
	if err != nil {
		i.logSkipped(dir, err)
	}
	if len(sets) > 0 || err != nil {
		return i.tasksOfProblemSets(sets), nil
	}
	return i.tasksOfFolders(upload), nil
}

func (i installer) tasksOfProblemSets(sets []tasks.ProblemSet) []taskToInstall {
	var wanted []taskToInstall
	for _, set := range sets {
		for _, p := range set.Problems {
			if p.Err != nil {
				i.logSkipped(set.FilePath+": "+p.Name, p.Err)
				continue
			}
			task := catalog.NewTask{
				Slug: p.Name, Bundle: p.Bundle,
				TaskSettings: catalog.TaskSettings{Devices: p.GPUs, Deadline: &p.Deadline},
			}
			wanted = append(wanted, taskToInstall{NewTask: task, hasDeadline: !p.HasAssumedDeadline})
		}
	}
	return wanted
}

func (i installer) tasksOfFolders(upload *tasks.Upload) []taskToInstall {
	var wanted []taskToInstall
	for _, folder := range slices.Sorted(slices.Values(upload.Folders())) {
		bundle, err := upload.ReadBundle(folder)
		if err != nil {
			i.logSkipped(folder, err)
			continue
		}
		wanted = append(wanted, taskToInstall{NewTask: catalog.NewTask{Bundle: bundle}})
	}
	return wanted
}
