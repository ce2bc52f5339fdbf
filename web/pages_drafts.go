package web

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"warpboard/models"
	"warpboard/tasks"
	"warpboard/views"
)

// upload is what a creator sent: a zip of tasks, or one reference file of the older form.
type upload struct {
	name string
	data []byte
}

// draft is a task that an upload would make.
type draft struct {
	bundle   *tasks.Bundle
	name     string
	deadline time.Time
	devices  []string
	notes    []string
	err      error // why it cannot be made; bundle is nil then
}

// drafts reads the tasks of an upload. An upload without any usable task is an error with Problems.
func (u upload) drafts(now time.Time) ([]draft, error) {
	switch strings.ToLower(path.Ext(u.name)) {
	case ".cu", ".cuh", ".cpp", ".py":
		bundle, err := tasks.FromReference(path.Base(u.name), u.data, nil)
		return []draft{{bundle: bundle}}, err
	}
	stem := strings.TrimSuffix(path.Base(u.name), path.Ext(u.name))
	opened, err := tasks.OpenZip(bytes.NewReader(u.data), int64(len(u.data)), tasks.Options{Name: stem})
	if err != nil {
		return nil, err
	}
	sets, err := opened.ProblemSets(now)
	if err != nil {
		return nil, err
	}
	if len(sets) > 0 {
		return setDrafts(sets), nil
	}
	bundles, err := opened.Bundles()
	if err != nil {
		return nil, err
	}
	list := make([]draft, len(bundles))
	for i, bundle := range bundles {
		list[i] = draft{bundle: bundle}
	}
	return list, nil
}

func setDrafts(sets []tasks.ProblemSet) []draft {
	var list []draft
	for _, set := range sets {
		for _, problem := range set.Problems {
			list = append(list, draft{
				bundle: problem.Bundle, name: problem.Name, deadline: problem.Deadline,
				devices: problem.GPUs, notes: problem.Notes, err: problem.Err,
			})
		}
	}
	return list
}

// single is the one task of an upload that must hold just one.
func (u upload) single(now time.Time) (*tasks.Bundle, error) {
	list, err := u.drafts(now)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 || list[0].bundle == nil {
		return nil, invalid("tasks", "This needs an upload with exactly one task; %s holds %d.", u.name, len(list))
	}
	return list[0].bundle, nil
}

// showDraft makes the preview of a draft, with the devices that a creator can choose.
func (p pages) showDraft(ctx context.Context, d draft) (views.TaskDraft, error) {
	if d.bundle == nil {
		return views.TaskDraft{Settings: views.TaskSettings{Slug: models.Slug(d.name), Title: d.name}, Problem: fmt.Sprint(d.err)}, nil
	}
	def := d.bundle.Definition
	devices := slices.Concat(d.devices, def.GPUs)
	if len(devices) == 0 && def.Lang == tasks.LangCPP {
		devices = []string{"CPU"}
	}
	settings, err := p.settingsOf(ctx, models.Task{
		Slug:    models.Slug(firstText(d.name, d.bundle.Name)),
		Title:   firstText(def.Title, d.name, d.bundle.Name),
		Devices: devices,
	})
	if err != nil {
		return views.TaskDraft{}, err
	}
	settings.Deadline = d.deadline
	shown := views.TaskDraft{
		Settings: settings, Definition: def, Files: draftFiles(d.bundle), Warnings: slices.Concat(d.notes, d.bundle.Warnings),
	}
	if shown.Description, err = views.Markdown(def.Description); err != nil {
		return shown, err
	}
	_, refused := d.bundle.WithWarpboardHarness()
	shown.MayRehouse = refused == nil
	shown.Upload, shown.UploadName, err = carry(d.bundle)
	return shown, err
}

func firstText(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// carry packs a task for a form field, so that nothing is kept on the server between preview and publishing.
func carry(b *tasks.Bundle) (encoded, name string, err error) {
	if b.Definition.Form == tasks.FormLegacy {
		name, text := reference(b)
		return base64.StdEncoding.EncodeToString(text), name, nil
	}
	var buf bytes.Buffer
	err = tasks.WriteZip(&buf, b)
	return base64.StdEncoding.EncodeToString(buf.Bytes()), b.Name + ".zip", err
}

// reference is the one file of a task of the older form, under a name whose suffix tells the language;
// its run-time name, reference.cuh for C++ too, does not.
func reference(b *tasks.Bundle) (name string, text []byte) {
	for _, text = range b.Files {
		break
	}
	return b.Name + "." + string(b.Definition.Lang), text
}

// draftFiles lists a task's files with what each is for.
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
