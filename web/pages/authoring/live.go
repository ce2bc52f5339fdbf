package authoring

import (
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
// query: whether the name is taken.
func (p *Authoring) Check(c *fiber.Ctx) error {
	user, err := requireCreator(c)
	if err != nil {
		return err
	}
	if !p.checks.Allows(user.ID, p.site.Now()) {
		return site.TooMany("You are checking too often. Wait a moment.", checkEvery)
	}
	slug, list := "task", []remark{}
	names := formValues(c, "name")
	isNew := len(names) > 0 // only a new task is given one
	if isNew {
		if name := strings.TrimSpace(names[0]); name != "" {
			slug = db.Slug(name)
		}
		if list, err = p.checkName(c.UserContext(), slug); err != nil {
			return err
		}
	}
	files, err := readFiles(c)
	if err != nil {
		return err
	}
	sent := slices.Clone(files)
	for _, problem := range applyFields(c, files) {
		list = append(list, remark{File: tasks.TaskFile, Text: problem.Message})
	}
	found, err := p.checkFiles(slug, files, isNew)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(fiber.Map{"remarks": append(list, found...), "task": changedTask(sent, files), "fields": valuesOf(files)})
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

// checkName says why a new task cannot have its name.
func (p *Authoring) checkName(ctx context.Context, slug string) ([]remark, error) {
	if slug == "" || reservedSlug(slug) {
		return []remark{{Text: needsName}}, nil
	}
	switch _, err := p.site.Store.Catalog.Task(ctx, slug); {
	case db.KindOf(err) == db.NotFound:
		return []remark{}, nil
	case err != nil:
		return nil, err
	}
	return []remark{{Text: fmt.Sprintf("A task already exists at /tasks/%s: choose another name.", slug)}}, nil
}

// checkFiles reads the files as "Try it" does.
func (p *Authoring) checkFiles(slug string, files []views.EditedFile, isNew bool) (list []remark, err error) {
	folder := slug
	if folder == "" {
		folder = "task"
	}
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
