package authoring

import (
	"archive/zip"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models/catalog"
	"warpboard/tasks"
	"warpboard/tasks/parse"
	"warpboard/views"
	"warpboard/web/site"
)

// uploadedFilesStarter is the value of the form field "starter" for a task that begins with uploaded files.
const uploadedFilesStarter = "files"

// BeginWithStarter opens a starter task in the editor. Nothing is stored before the author tries it.
func (p *Authoring) BeginWithStarter(c *fiber.Ctx) error {
	if _, err := requireCreator(c); err != nil {
		return err
	}
	name := c.Params("kind")
	if name == uploadedFilesStarter || name == "open" { // a reload of an editor whose files were only in a form
		return c.Redirect("/tasks/new", fiber.StatusSeeOther)
	}
	if starterIndex(name) < 0 {
		return site.NotFound(c)
	}
	folder, err := tasks.ExampleFolder(name)
	if err != nil {
		return err
	}
	files, err := readFolder(folder)
	if err != nil {
		return err
	}
	at := views.FileNamed(files, tasks.TaskFile)
	// The title and the problem name of the starter are removed, because the author chooses a title.
	files[at].Text = regexp.MustCompile(`(?m)^(title|problem):.*\n`).ReplaceAllString(files[at].Text, "")
	return p.showFiles(c, views.TaskFilesPage{Files: files, Starter: name})
}

// OpenUpload opens an upload that contains one task in the editor.
func (p *Authoring) OpenUpload(c *fiber.Ctx) error {
	if _, err := requireCreator(c); err != nil {
		return err
	}
	var bundle *tasks.Bundle
	sent, err := p.readZip(c)
	if err == nil {
		bundle, err = sent.singleTask(p.site.Now())
	}
	if problems := parse.ProblemsFromError(err); len(problems) > 0 {
		return p.showUpload(c, views.TaskRef{}, problemSentences(problems))
	}
	if err != nil {
		return err
	}
	files, err := editedFilesOf(bundle)
	if err != nil {
		return err
	}
	return p.showFiles(c, views.TaskFilesPage{
		Files:     files,
		Starter:   uploadedFilesStarter,
		TaskTitle: cmp.Or(bundle.Definition.Title, bundle.Name),
	})
}

// FilesPage opens the files of a task in the editor.
func (p *Authoring) FilesPage(c *fiber.Ctx) error {
	task, version, bundle, err := p.newestBundle(c)
	if err != nil {
		return err
	}
	files, err := editedFilesOf(bundle)
	if err != nil {
		return err
	}
	return p.showFiles(c, views.TaskFilesPage{
		Task:     site.TaskLink(task),
		Hidden:   task.CurrentVisibility() == catalog.Hidden,
		Proposed: !version.WasPublished(),
		Files:    files,
	})
}

// editedFilesOf returns a task's files as a zip would contain them.
func editedFilesOf(b *tasks.Bundle) ([]views.EditedFile, error) {
	var buf bytes.Buffer
	if err := tasks.WriteZip(&buf, b); err != nil {
		return nil, err
	}
	opened, err := zip.NewReader(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		return nil, fmt.Errorf("reading the files of %s: %w", b.Name, err)
	}
	folder, err := fs.Sub(opened, b.Name)
	if err != nil {
		return nil, fmt.Errorf("reading the files of %s: %w", b.Name, err)
	}
	return readFolder(folder)
}

// readFolder returns a task's files in reading order. It returns an error if a file is not text, which the editor
// cannot show.
func readFolder(folder fs.FS) (files []views.EditedFile, err error) {
	err = fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(folder, name)
		if err == nil && !utf8.Valid(text) {
			return site.Invalid("text", "%s is not text: upload a zip instead.", name)
		}
		files = append(files, views.EditedFile{Path: name, Text: string(text)})
		return err
	})
	slices.SortStableFunc(files, func(a, b views.EditedFile) int { return cmp.Compare(readingOrder(a.Path), readingOrder(b.Path)) })
	if err == nil {
		err = checkEditable(files)
	}
	return files, err
}

// showFiles renders the editor with the files and their problems.
func (p *Authoring) showFiles(c *fiber.Ctx, page views.TaskFilesPage) error {
	title, section, status := "New task", "new", fiber.StatusOK
	if page.Task.Slug != "" {
		title, section = "Files of "+page.Task.Title, "tasks"
	}
	if len(page.Problems) > 0 {
		status = fiber.StatusUnprocessableEntity
	}
	page.Page = p.site.Page(c, title, section)
	page.FullWidth, page.FullHeight = true, true
	page.Titled = titleInTaskFile(page.Files) != ""
	return p.site.Render(c, status, views.TaskFiles(page))
}

// readFiles reads the files from the editor's form. A file without a path was deleted by the author.
func readFiles(c *fiber.Ctx) ([]views.EditedFile, error) {
	var files []views.EditedFile
	texts := formValues(c, "text")
	for i, name := range formValues(c, "path") {
		if name = strings.TrimSpace(name); name != "" && i < len(texts) {
			files = append(files, views.EditedFile{Path: name, Text: strings.ReplaceAll(texts[i], "\r\n", "\n")})
		}
	}
	return files, checkEditable(files)
}

// checkEditable returns an error for files that the editor cannot show.
func checkEditable(files []views.EditedFile) error {
	size := 0
	for _, f := range files {
		size += len(f.Path) + len(f.Text)
	}
	if size > site.MaxFormText {
		return site.TooMuchTextError("Upload a zip instead.")
	}
	return nil
}

// bundleOf reads edited files as one task and returns their problems. The paths in the problems have no folder.
func (p *Authoring) bundleOf(
	name string, files []views.EditedFile,
) (b *tasks.Bundle, wrong []parse.Problem, err error) {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, f := range files {
		if !fs.ValidPath(f.Path) {
			return nil, []parse.Problem{{Message: fmt.Sprintf("%q is not a path of a file: write it as solutions/correct/mine.cpp.", f.Path)}}, nil
		}
		// no compression, because the zip is only read below
		file, err := w.CreateHeader(&zip.FileHeader{Name: f.Path, Method: zip.Store})
		if err == nil {
			_, err = io.WriteString(file, f.Text)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("packing %s: %w", f.Path, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, nil, fmt.Errorf("packing the files: %w", err)
	}
	b, err = upload{name: name + ".zip", data: buf.Bytes()}.singleTask(p.site.Now())
	if wrong := parse.ProblemsFromError(err); len(wrong) > 0 {
		return nil, wrong, nil
	}
	return b, nil, err
}

// TaskPreview shows the task's page as it would look with the edited files. It stores and runs nothing.
func (p *Authoring) TaskPreview(c *fiber.Ctx) error {
	user, err := requireCreator(c)
	if err != nil {
		return err
	}
	if !p.previewLimiter.Allows(user.ID, p.site.Now()) {
		return site.TooMany("Too many previews in a row. Wait a moment.", liveCheckInterval)
	}
	page, err := readEditorForm(c)
	if err != nil {
		return err
	}
	task, version, err := p.previewedTask(c, page)
	if err != nil {
		return err
	}
	bundle, wrong, err := p.bundleOf(task.Slug, page.Files)
	if err != nil {
		return err
	}
	if page.Problems = append(page.Problems, problemSentences(wrong)...); len(page.Problems) > 0 {
		return site.Invalid("files", "The preview cannot be shown: %s", strings.Join(page.Problems, " "))
	}
	return p.showPreview(c, task, version, bundle)
}

// previewedTask returns the task for a preview of edited files, and its version number; a new task has version 1.
func (p *Authoring) previewedTask(c *fiber.Ctx, page views.TaskFilesPage) (task catalog.Task, version int, err error) {
	slug := c.FormValue("task")
	if slug == "" {
		return catalog.Task{Slug: cmp.Or(newTaskSlug(page), unnamedTaskFolder), Visibility: catalog.Hidden}, 1, nil
	}
	if task, err = p.editableTaskBySlug(c, slug); err != nil {
		return task, 0, err
	}
	shown, err := p.site.Store.Catalog.Version(c.UserContext(), task.VersionID)
	return task, shown.Number, err
}

func (p *Authoring) showPreview(c *fiber.Ctx, task catalog.Task, version int, b *tasks.Bundle) error {
	if task.ID == 0 {
		task.Title = cmp.Or(b.Definition.Title, "Task without a title")
		task.Devices = draft{TaskProposal: tasks.TaskProposal{Name: b.Name, Bundle: b}}.task().Devices
	} else if b.Definition.Title != "" {
		task.Title = b.Definition.Title
	}
	base := p.site.Page(c, task.Title, "tasks")
	base.Notice = "This is a preview. Nothing is saved."
	page, err := p.runs.TaskPage(p.highlighter, base, task, version, b)
	if err != nil {
		return err
	}
	page.Owner = site.PersonLink(base.Viewer.ID, base.Viewer.Name)
	for _, device := range task.Devices {
		page.Boards = append(page.Boards, views.BoardChip{})
		page.Boards[len(page.Boards)-1].Device = device
	}
	page.Form.Mode = string(job.ModeRanked)
	if err := p.runs.FillSubmitForm(c, page.Page, task, b, &page.Form); err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return p.site.Render(c, fiber.StatusOK, views.Task(page))
}
