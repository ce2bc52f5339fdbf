package evaluations

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/internal/gpuname"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/fleet"
	"warpboard/models/work"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/web/site"
)

// Compile queues a request to compile. files are the additional files of a submission. The error is a
// *kernelrun.Refusal if no worker can compile the request.
func (s *Evaluations) Compile(
	ctx context.Context, caller Caller, request kernelrun.Request, files map[string][]byte,
) (work.Evaluation, error) {
	// the type is "cuda", the language "cu"
	lang := tasks.Lang(strings.TrimSuffix(request.CustomKernel.KernelType, "da"))
	if strings.Contains(request.CustomKernel.Source, "\x00") {
		return work.Evaluation{}, &kernelrun.Refusal{
			Message: "source_code is not text",
			Details: map[string]any{"source_code": ""},
		}
	}
	var err error
	if request.TaskName != "" {
		if lang, err = s.packSubmission(ctx, caller.User, &request, files); err != nil {
			return work.Evaluation{}, err
		}
	}
	request.CustomKernel.KernelType = map[tasks.Lang]string{tasks.LangCUDA: "cuda", tasks.LangCPP: "cpp"}[lang]
	workers, err := s.site.Store.Fleet.Workers(ctx)
	if err != nil {
		return work.Evaluation{}, err
	}
	devices := devicesOf(workers, s.site.Now(), func(w fleet.Worker, slot job.Slot) bool {
		return w.AcceptsJobsOn(slot) && slot.Machine.CompilerVersion != "" && (slot.Device != gpuname.CPU) == (lang == tasks.LangCUDA)
	})
	if len(devices) == 0 {
		needs := map[tasks.Lang]string{tasks.LangCUDA: "CUDA: it needs a GPU and nvcc", tasks.LangCPP: "C++: it needs a CPU slot and g++"}
		return work.Evaluation{}, s.noDeviceError(fmt.Sprintf("No connected worker can compile %s.", needs[lang]))
	}
	return s.submit(ctx, caller, request, devices, "")
}

// packSubmission replaces a request's source by a packed submission to its task, and adds the task's version.
func (s *Evaluations) packSubmission(
	ctx context.Context, user accounts.User, request *kernelrun.Request, files map[string][]byte,
) (tasks.Lang, error) {
	refuse := func(text string) (tasks.Lang, error) {
		return "", &kernelrun.Refusal{Message: text, Details: map[string]any{"task": request.TaskName}}
	}
	task, err := s.site.Store.Catalog.Task(ctx, db.Slug(request.TaskName))
	if db.KindOf(err) == db.NotFound || err == nil && !task.VisibleTo(user) {
		return refuse(fmt.Sprintf("there is no task %q", request.TaskName))
	}
	if err != nil {
		return "", err
	}
	bundle, err := s.site.Store.Catalog.CurrentBundle(ctx, task)
	if err != nil {
		return "", err
	}
	if bundle.Definition.Lang == tasks.LangPython {
		return refuse(fmt.Sprintf("%s is a Python task, whose submissions are compiled when they run: test yours instead", task.Slug))
	}
	submission := tasks.Submission{Source: []byte(request.CustomKernel.Source), Files: files}
	if err := cmp.Or(bundle.CheckFiles(submission.Names()), tasks.CheckSubmission(submission)); err != nil {
		return refuse(err.Error())
	}
	request.TaskName, request.VersionID, request.CustomKernel.Source = task.Slug, task.VersionID, string(submission.Pack())
	return bundle.Definition.Lang, nil
}

// WithKernelDiagnostics adds diagnostics by line, and the resources of kernels, to the result of a compilation.
func WithKernelDiagnostics(c kernelrun.CompilationResult) kernelrun.CompilationResult {
	for _, r := range views.ParseRemarks(c.CompilerMessages, views.CompiledSources(c)) {
		severity := "warning"
		if r.IsError {
			severity = "error"
		}
		c.Diagnostics = append(c.Diagnostics, kernelrun.Diagnostic{
			Line:     r.Line,
			File:     r.File,
			Severity: severity,
			Text:     r.Text,
		})
	}
	for _, k := range views.ParseKernelFacts(c.PTXASFacts) {
		c.Kernels = append(c.Kernels, kernelrun.KernelResources{
			Name:        k.Name,
			Registers:   k.Registers,
			SharedBytes: k.SharedBytes,
			StackBytes:  k.StackBytes,
			SpillBytes:  k.Spills,
		})
	}
	c.PTXASFacts = nil
	return c
}

// noDeviceError returns the error for a request that no connected worker can run.
func (s *Evaluations) noDeviceError(why string) error {
	none := &site.Failure{
		Status:     fiber.StatusServiceUnavailable,
		Code:       "no_device",
		RetryAfter: retryWithoutDevice,
		Message:    why,
	}
	if s.site.Now().Sub(s.startedAt) < workerStartupTime {
		none.Message, none.RetryAfter = "The site has just started, and its workers are starting. "+why, site.TemporaryRetryAfter
	}
	return none
}
