package authoring

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/db"
	"warpboard/tasks"
	"warpboard/tasks/problems"
	"warpboard/views"
	"warpboard/web/site"
)

const (
	checkEvery  = time.Second // a page sends a check half a second after the last key
	checksAhead = 10          // of someone who has several pages open
)

// remark is a check's message about a task that is being edited.
type remark struct {
	File string `json:"file,omitempty"` // path of an edited file; empty for the task as a whole
	Line int    `json:"line,omitempty"` // from 1; 0 without a line
	Text string `json:"text"`
	Note bool   `json:"note,omitempty"` // allowed, but probably not meant
}

// Check answers with the errors and warnings of "Try it" for the files. It reads, runs and stores nothing, and makes one
// query: whether the address is taken.
func (p *Authoring) Check(c *fiber.Ctx) error {
	user, err := requireCreator(c)
	if err != nil {
		return err
	}
	if !p.checks.Allows(user.ID, p.site.Now()) {
		return site.TooMany("Too many checks in a row. Wait a moment.", checkEvery)
	}
	files, err := readFiles(c)
	if err != nil {
		return err
	}
	sent, list := slices.Clone(files), []remark{}
	for _, problem := range applyFields(c, files) {
		list = append(list, remark{File: tasks.TaskFile, Text: problem.Message})
	}
	slugs := formValues(c, "slug")
	isNew, slug := len(slugs) > 0, "" // only a new task is given one
	if isNew {
		slug = slugOf(views.TaskFilesPage{Slug: strings.TrimSpace(slugs[0]), Files: files})
		taken, err := p.checkSlug(c.UserContext(), slug)
		if err != nil {
			return err
		}
		list = append(list, taken...)
	}
	found, err := p.checkFiles(cmp.Or(slug, unnamed), files, isNew)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(fiber.Map{"remarks": append(list, found...), "task": changedTask(sent, files), "fields": valuesOf(files), "derived": db.Slug(titleIn(files))})
}

// changedTask is the text of task.yml with what was changed in its fields; nil where that is the same.
func changedTask(sent, now []views.EditedFile) *string {
	if at := views.FileNamed(now, tasks.TaskFile); at >= 0 && now[at].Text != sent[at].Text {
		return &now[at].Text
	}
	return nil
}

// valuesOf are the values of the fields by key; nil where task.yml cannot be read.
func valuesOf(files []views.EditedFile) map[string]string {
	var values map[string]string
	for _, f := range fieldsOf(files) {
		if values == nil {
			values = map[string]string{}
		}
		values[f.Key] = f.Value
	}
	return values
}

// checkSlug says why a new task cannot have its slug; an empty one is not chosen yet.
func (p *Authoring) checkSlug(ctx context.Context, slug string) ([]remark, error) {
	if slug == "" {
		return nil, nil
	}
	if reservedSlug(slug) {
		return []remark{{Text: needsSlug}}, nil
	}
	switch _, err := p.site.Store.Catalog.Task(ctx, slug); {
	case db.KindOf(err) == db.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return []remark{{Text: fmt.Sprintf("A task already exists at /tasks/%s. Type another address.", slug)}}, nil
}

// checkFiles reads the files as "Try it" does.
func (p *Authoring) checkFiles(folder string, files []views.EditedFile, isNew bool) (list []remark, err error) {
	bundle, wrong, err := p.bundleOf(folder, files)
	if err != nil {
		return nil, err
	}
	if bundle != nil && isNew {
		wrong = withoutDevice(bundle)
	}
	for _, problem := range wrong {
		said := problems.Problem{Key: problem.Key, Message: problem.Message}
		list = append(list, remark{File: strings.TrimPrefix(problem.File, folder+"/"), Line: problem.Line, Text: said.Error()})
	}
	if bundle == nil {
		return list, nil
	}
	for _, warning := range bundle.Warnings {
		list = append(list, remark{File: fileIn(warning, files), Text: warning, Note: true})
	}
	return list, nil
}

// fileIn is the file that a warning begins with, if it does; the others are of task.yml.
func fileIn(warning string, files []views.EditedFile) string {
	for _, f := range files {
		if strings.HasPrefix(warning, f.Path+" ") {
			return f.Path
		}
	}
	return tasks.TaskFile
}
