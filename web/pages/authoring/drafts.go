package authoring

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"mime/multipart"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/internal/gpuname"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/tasks"
	"warpboard/tasks/parse"
	"warpboard/views"
	"warpboard/web/site"
)

// upload is an uploaded file: a zip of tasks, or one file with the reference kernel of a task in the legacy format.
type upload struct {
	name string
	data []byte
}

// readProposals reads the tasks of an upload. If no task is valid, the error contains the problems.
func (u upload) readProposals(now time.Time) ([]tasks.TaskProposal, error) {
	opened, err := tasks.OpenFile(u.name, u.data)
	if err != nil {
		return nil, err
	}
	return opened.Proposals(now)
}

// singleTask returns the task of an upload that must contain exactly one task.
func (u upload) singleTask(now time.Time) (*tasks.Bundle, error) {
	list, err := u.readProposals(now)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, site.Invalid("tasks", "This needs an upload with exactly one task; %s holds %d.", u.name, len(list))
	}
	return list[0].Bundle, nil
}

// draft is a task that an upload would create or change, with the values of the form.
type draft struct {
	tasks.TaskProposal
	number          int
	currentTask     *catalog.Task // task that it would change; nil for a new one
	formSettings    *catalog.Task // settings from the form; nil to use those of the upload
	standardHarness *bool         // the form's choice of Warpboard's harness; nil for unchanged
	refusalReason   string        // reason why the last try to publish it failed
}

// findDrafts finds for each uploaded task the existing task that it would change: the one with the same slug, if the
// person may edit it.
func (p *Authoring) findDrafts(ctx context.Context, user accounts.User, list []tasks.TaskProposal) ([]draft, error) {
	out := make([]draft, len(list))
	for i, proposal := range list {
		out[i] = draft{TaskProposal: proposal, number: i}
		task, err := p.site.Store.Catalog.Task(ctx, db.Slug(proposal.Name))
		switch {
		case err != nil && db.KindOf(err) != db.NotFound:
			return nil, err
		case err == nil && task.EditableBy(user):
			out[i].currentTask = &task
		}
	}
	return out, nil
}

// showDraft returns the preview of a draft, with the devices that the author can choose.
func (p *Authoring) showDraft(ctx context.Context, d draft) (shown views.TaskDraft, err error) {
	shown = views.TaskDraft{Number: d.number, Refused: d.refusalReason}
	if d.Bundle == nil {
		shown.Settings, shown.Problem = views.TaskSettings{Slug: db.Slug(d.Name), Title: d.Name}, fmt.Sprint(d.Err)
		return shown, nil
	}
	if shown.Settings, err = p.settingsOf(ctx, d.task()); err != nil {
		return shown, err
	}
	if shown.Upload, shown.UploadName, err = encodeBundle(d.Bundle); err != nil {
		return shown, err
	}
	_, refused := d.Bundle.WithWarpboardHarness()
	shown.MayUseStandardHarness, shown.StandardHarness = refused == nil, d.standardHarness != nil && *d.standardHarness
	bundle := d.Bundle
	if d.currentTask != nil {
		if bundle, err = p.showChange(ctx, d, &shown); err != nil {
			return shown, err
		}
	}
	shown.Chosen = d.currentTask == nil || !shown.NewVersion && len(shown.Changes) > 0
	shown.Definition, shown.Files = bundle.Definition, draftFiles(bundle)
	shown.Warnings = slices.Concat(d.Notes, d.Bundle.Warnings)
	if at := shown.Settings.Deadline; !at.IsZero() && !at.After(p.site.Now()) {
		shown.Warnings = append(shown.Warnings, "The deadline "+deadlineText(&at)+" has passed: once published, the task is closed and everyone can read its sources.")
	}
	shown.Description, err = p.highlighter.RenderDescription(bundle.Definition.Description)
	return shown, err
}

// task returns the initial values of the draft's form: those of the submitted form, those of the existing task with the
// upload's deadline, or those of the upload.
func (d draft) task() catalog.Task {
	switch {
	case d.formSettings != nil:
		return *d.formSettings
	case d.currentTask != nil:
		task := *d.currentTask
		if d.hasDeadline() {
			task.Deadline = &d.Deadline
		}
		return task
	}
	def := d.Bundle.Definition
	task := catalog.Task{
		Slug:    db.Slug(d.Name),
		Title:   cmp.Or(def.Title, d.Name),
		Devices: slices.Concat(d.GPUs, def.GPUs),
	}
	if !d.Deadline.IsZero() {
		task.Deadline = &d.Deadline
	}
	if len(task.Devices) == 0 && def.Lang == tasks.LangCPP {
		task.Devices = []string{gpuname.CPU}
	}
	return task
}

// hasDeadline reports whether the upload contains a deadline.
func (d draft) hasDeadline() bool { return !d.Deadline.IsZero() && !d.HasAssumedDeadline }

// encodeBundle encodes a task for a form field. The server thus stores nothing between preview and publication.
func encodeBundle(b *tasks.Bundle) (encoded, name string, err error) {
	if b.Definition.Protocol == tasks.ProtocolLegacy {
		name, text := site.LegacyFile(b)
		return base64.StdEncoding.EncodeToString(text), name, nil
	}
	var buf bytes.Buffer
	err = tasks.WriteZip(&buf, b)
	return base64.StdEncoding.EncodeToString(buf.Bytes()), b.Name + ".zip", err
}

// draftFiles lists a task's files with the purpose of each.
func draftFiles(b *tasks.Bundle) []views.DraftFile {
	var files []views.DraftFile
	for _, f := range b.Definition.Files {
		if f.IsSubmission() {
			files = append(files, views.DraftFile{Name: f.Name, Size: -1, Note: "the submission"})
			continue
		}
		files = append(files, views.DraftFile{Name: f.Name, Size: int64(len(b.Files[f.Source]))})
	}
	for _, label := range slices.Sorted(maps.Keys(b.Definition.Templates)) {
		name := b.Definition.Templates[label]
		files = append(files, views.DraftFile{Name: name, Size: int64(len(b.Files[name])), Note: label + " template"})
	}
	return files
}

// readZip reads the uploaded file: a zip, a file in the legacy format, or the files of one task.
func (p *Authoring) readZip(c *fiber.Ctx) (upload, error) {
	form, err := c.MultipartForm()
	if err != nil || len(form.File["zip"]) == 0 {
		return upload{}, site.Invalid("zip", "Choose a zip, or the files of a task, to upload.")
	}
	if list := form.File["zip"]; len(list) > 1 {
		return p.packFiles(list)
	}
	header := form.File["zip"][0]
	data, err := site.ReadUpload(header, int64(p.bundleLimit))
	if err == nil && len(data) > p.bundleLimit {
		err = site.Invalid("zip", "%s is larger than %d MiB.", header.Filename, p.bundleLimit>>20)
	}
	return upload{name: header.Filename, data: data}, err
}

// packFiles creates a zip from the files of one task. A KernelBot problem references files in the parent folder
// ("../utils.py"), but a browser uploads no folders, so packFiles stores each file except task.yml in both folders.
// Without a task.yml the files are treated as a problem of another benchmark.
func (p *Authoring) packFiles(list []*multipart.FileHeader) (upload, error) {
	const folder = "task/"
	var buf bytes.Buffer
	z, total := zip.NewWriter(&buf), 0
	described := slices.ContainsFunc(list, func(header *multipart.FileHeader) bool { return isTaskFile(header.Filename) })
	for _, header := range list {
		data, err := site.ReadUpload(header, int64(p.bundleLimit))
		if err != nil {
			return upload{}, err
		}
		if total += len(data); total > p.bundleLimit {
			return upload{}, site.Invalid("zip", "These files are larger than %d MiB together.", p.bundleLimit>>20)
		}
		name := filepath.Base(header.Filename)
		places := []string{folder + name, name}
		if isTaskFile(name) || !described {
			places = places[:1]
		}
		for _, place := range places {
			if err := writeFile(z, place, data); err != nil {
				return upload{}, err
			}
		}
	}
	if err := z.Close(); err != nil {
		return upload{}, fmt.Errorf("packing uploaded files: %w", err)
	}
	packed := upload{name: "task.zip", data: buf.Bytes()}
	if opened, err := tasks.OpenFile(packed.name, packed.data); !described && (err != nil || !opened.IsImported()) {
		return upload{}, parse.Problem{Message: fmt.Sprintf("there is no %s among these %d files. It names the others: choose it, too", tasks.TaskFile, len(list))}
	}
	return packed, nil
}

func isTaskFile(name string) bool {
	base := filepath.Base(name)
	return base == tasks.TaskFile || base == "task.yaml"
}

func writeFile(z *zip.Writer, name string, data []byte) error {
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write(data)
	}
	if err != nil {
		return fmt.Errorf("packing the uploaded file %s: %w", name, err)
	}
	return nil
}
