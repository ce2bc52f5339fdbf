package authoring

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/internal/gpuname"
	"warpboard/models/db"
	"warpboard/models/fleet"
	"warpboard/tasks"
	"warpboard/tasks/parse"
	"warpboard/views"
	"warpboard/web/site"
)

const (
	liveCheckInterval = time.Second // per person; a page sends a check 0.5 s after the last key
	maxChecksAtOnce   = 10          // allowed burst, for a person with several open pages
)

// checkMessage is a message of a check about a task that is being edited.
type checkMessage struct {
	File      string `json:"file,omitempty"` // path of an edited file; empty for the task as a whole
	Line      int    `json:"line,omitempty"` // from 1; 0 without a line
	Text      string `json:"text"`
	IsWarning bool   `json:"note,omitempty"` // allowed, but probably not meant
}

// String formats a remark for browsers without JavaScript.
func (r checkMessage) String() string {
	if r.Line == 0 {
		return r.Text
	}
	return parse.Problem{File: r.File, Line: r.Line, Message: r.Text}.Error()
}

// Check responds with the errors and warnings for edited files that "Try it" would show. It runs and stores nothing,
// and makes two queries: one for the slug, one for the devices.
func (p *Authoring) Check(c *fiber.Ctx) error {
	user, err := requireCreator(c)
	if err != nil {
		return err
	}
	if !p.checkLimiter.Allows(user.ID, p.site.Now()) {
		return site.TooMany("Too many checks in a row. Wait a moment.", liveCheckInterval)
	}
	files, err := readFiles(c)
	if err != nil {
		return err
	}
	page, list := views.TaskFilesPage{Files: files, TaskTitle: strings.TrimSpace(c.FormValue("title"))}, []checkMessage{}
	slugs := formValues(c, "slug")
	isNew, slug := len(slugs) > 0, "" // the form has a field for the slug only if the task is new
	if isNew {
		page.Slug = strings.TrimSpace(slugs[0])
		slug = newTaskSlug(page)
		taken, err := p.checkSlug(c.UserContext(), slug)
		if err != nil {
			return err
		}
		list = append(list, taken...)
	}
	found, err := p.checkFiles(c.UserContext(), cmp.Or(slug, unnamedTaskFolder), files, isNew)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(fiber.Map{"remarks": append(list, found...), "derived": db.Slug(cmp.Or(titleInTaskFile(files), page.TaskTitle))})
}

// checkSlug returns one message if a new task cannot have the slug, because it is reserved or another task has it, and
// none otherwise. An empty slug is allowed, because the author may choose it later. err is only an error of the
// database.
func (p *Authoring) checkSlug(ctx context.Context, slug string) ([]checkMessage, error) {
	if slug == "" {
		return nil, nil
	}
	if reservedSlug(slug) {
		return []checkMessage{{Text: slugRequiredText}}, nil
	}
	switch _, err := p.site.Store.Catalog.Task(ctx, slug); {
	case db.KindOf(err) == db.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return []checkMessage{{Text: fmt.Sprintf("A task already exists at /tasks/%s. Type another address.", slug)}}, nil
}

// checkFiles reads edited files as "Try it" does, and returns their problems.
func (p *Authoring) checkFiles(
	ctx context.Context, name string, files []views.EditedFile, isNew bool,
) (list []checkMessage, err error) {
	bundle, wrong, err := p.bundleOf(name, files)
	if err != nil {
		return nil, err
	}
	if bundle != nil && isNew {
		wrong = missingDeviceProblem(bundle)
	}
	for _, problem := range wrong {
		plain := parse.Problem{Key: problem.Key, Message: problem.Message}
		list = append(list, checkMessage{File: problem.File, Line: problem.Line, Text: plain.Error()})
	}
	if bundle == nil {
		return list, nil
	}
	notes, err := p.fileWarnings(ctx, bundle, files)
	return append(list, notes...), err
}

// fileWarnings lists content of the files that is allowed but probably a mistake.
func (p *Authoring) fileWarnings(
	ctx context.Context, b *tasks.Bundle, files []views.EditedFile,
) (list []checkMessage, err error) {
	var lines tasks.KeyLines
	if at := views.FileNamed(files, tasks.TaskFile); at >= 0 {
		lines = tasks.ParseKeyLines([]byte(files[at].Text))
	}
	for _, warning := range b.Warnings {
		note := checkMessage{File: fileInWarning(warning, files), Text: warning, IsWarning: true}
		if note.File == tasks.TaskFile {
			note.Line = lines.LineOf(tasks.WarningKey(warning))
		}
		list = append(list, note)
	}
	workers, err := p.site.Store.Fleet.Workers(ctx)
	if err != nil {
		return nil, err
	}
	for i, name := range b.Definition.GPUs {
		if text := unknownDeviceWarning(name, workers); text != "" {
			list = append(list, checkMessage{
				File:      tasks.TaskFile,
				Line:      lines.LineOf(fmt.Sprintf("gpus[%d]", i)),
				Text:      text,
				IsWarning: true,
			})
		}
	}
	return list, nil
}

// unknownDeviceWarning returns a warning that no worker has ever had the named device, so that its name may be
// misspelled. It returns "" if a worker has had it, or if there is no worker.
func unknownDeviceWarning(name string, workers []fleet.Worker) string {
	had := map[string]string{} // labels of all workers' devices, by lowercase label
	for _, w := range workers {
		for _, slot := range w.Slots {
			if gpuname.NameMeansDevice(name, slot.Device) {
				return ""
			}
			had[strings.ToLower(slot.Device)] = slot.Device
		}
	}
	if len(had) == 0 {
		return ""
	}
	text := fmt.Sprintf("No worker of this site has had a device named %s.", name)
	if near := tasks.NearestName(name, slices.Sorted(maps.Keys(had))); near != "" {
		text += fmt.Sprintf(" Did you mean %s?", had[near])
	}
	return text
}

// fileInWarning returns the first file that a warning mentions, or task.yml.
func fileInWarning(warning string, files []views.EditedFile) string {
	for _, f := range files {
		if strings.HasPrefix(warning, f.Path+" ") {
			return f.Path
		}
	}
	return tasks.TaskFile
}
