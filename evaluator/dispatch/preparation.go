package dispatch

import (
	"context"
	"encoding/json"
	"slices"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/models/catalog"
	"warpboard/tasks"
)

// nextPrecompileJob returns the newest open task of a device whose version the worker does not have, so that the worker
// compiles the task's files before the first submission. It returns nil if there is none.
func (d *Dispatcher) nextPrecompileJob(ctx context.Context, ask job.WorkRequest) ([]byte, error) {
	may, err := d.store.Fleet.DeviceFilterOf(ctx, ask.Worker)
	if err != nil || !may(ask.Device) {
		return nil, err
	}
	open, err := d.store.Catalog.OpenTasks(ctx)
	if err != nil {
		return nil, err
	}
	for _, task := range open {
		if slices.Contains(task.Devices, ask.Device) && !slices.Contains(ask.CompiledVersions, task.VersionID) {
			return d.encodePrecompileJob(ctx, task)
		}
	}
	return nil, nil
}

func (d *Dispatcher) encodePrecompileJob(ctx context.Context, task catalog.Task) ([]byte, error) {
	version, err := d.store.Catalog.Version(ctx, task.VersionID)
	if err != nil {
		return nil, err
	}
	if hasProgramWithoutSubmission(version.Definition) {
		bundle, err := d.store.Catalog.Bundle(ctx, version.ID)
		if err != nil {
			return nil, err
		}
		data, err := json.Marshal(job.PrecompileJob{
			VersionID: version.ID, TaskName: task.Slug, TaskHash: version.MeasurementHash, Task: version.Definition, Sources: taskSources(bundle),
		})
		if err != nil || len(data) <= d.queue.MaxMessage() {
			return data, err
		}
	}
	// Without files: the version alone tells the worker to request the next task.
	return json.Marshal(job.PrecompileJob{VersionID: version.ID, TaskName: task.Slug})
}

// hasProgramWithoutSubmission reports whether the task has a program that can be compiled without a submission.
func hasProgramWithoutSubmission(def tasks.Definition) bool {
	return slices.ContainsFunc(harness.AssembleSources(def, nil).ToCompile, func(f harness.CompileInput) bool { return !f.HasSubmission })
}

// taskSources returns the files of a task by their names in a run.
func taskSources(b *tasks.Bundle) map[string][]byte {
	sources := map[string][]byte{}
	for _, f := range b.Definition.Files {
		if !f.IsSubmission() {
			sources[f.Name] = b.Files[f.Source]
		}
	}
	return sources
}
