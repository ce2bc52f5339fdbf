package authoring

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/tasks"
	"warpboard/tasks/parse"
	"warpboard/views"
	"warpboard/web/site"
)

// Values of the submit button. Any other value means: store the files and try them.
const (
	buttonCheck  = "check"
	buttonSave   = "save"
	buttonReview = "review"
	buttonEdit   = "edit"
	buttonTry    = "try"
)

// readEditorForm reads the editor's form. It writes the title of a new task into task.yml, unless task.yml has one.
func readEditorForm(c *fiber.Ctx) (page views.TaskFilesPage, err error) {
	page.Slug, page.TaskTitle = strings.TrimSpace(c.FormValue("slug")), strings.TrimSpace(c.FormValue("title"))
	if page.Files, err = readFiles(c); err != nil {
		return page, err
	}
	at := views.FileNamed(page.Files, tasks.TaskFile)
	if at < 0 || page.TaskTitle == "" || strings.Contains("\n"+page.Files[at].Text, "\ntitle:") {
		return page, nil
	}
	line := "title: " + page.TaskTitle + "\n"
	if tasks.TopLevelText([]byte(line), "title") != page.TaskTitle {
		line = "title: " + strconv.Quote(page.TaskTitle) + "\n"
	}
	page.Files[at].Text = line + page.Files[at].Text
	return page, nil
}

// TryNew creates a hidden task from the files and tries it. Only its author sees it until it is published.
func (p *Authoring) TryNew(c *fiber.Ctx) error {
	user, err := requireCreator(c)
	if err != nil {
		return err
	}
	page, err := readEditorForm(c)
	if err != nil {
		return err
	}
	page.Starter = c.Params("kind")
	bundle, refused, err := p.newBundle(&page)
	if err != nil {
		return err
	}
	if refused || c.FormValue("do") == buttonCheck {
		return p.showCheckResult(c, page, bundle)
	}
	settings := draft{TaskProposal: tasks.TaskProposal{Name: bundle.Name, Bundle: bundle}}.task()
	task, err := p.site.Store.Catalog.CreateTask(c.UserContext(), *user, catalog.NewTask{Slug: newTaskSlug(page), Bundle: bundle,
		TaskSettings: catalog.TaskSettings{
			Title:      bundle.Definition.Title,
			Devices:    settings.Devices,
			Visibility: catalog.Hidden,
		}})
	if page.Problems, err = authorMistakes(err); err != nil || len(page.Problems) > 0 {
		if len(page.Problems) > 0 {
			return p.showFiles(c, page)
		}
		return err
	}
	return p.redirectToNext(c, *user, task, task.VersionID, bundle)
}

// storeAndRedirect stores changed files and redirects to the page that the submit button selects.
func (p *Authoring) storeAndRedirect(c *fiber.Ctx, user accounts.User, task catalog.Task, bundle *tasks.Bundle) error {
	version, err := p.storeVersion(c.UserContext(), user, task, bundle)
	if err != nil {
		return err
	}
	return p.redirectToNext(c, user, task, version, bundle)
}

// redirectToNext redirects to the editor, to the changes, or to the trial of stored files.
func (p *Authoring) redirectToNext(
	c *fiber.Ctx, user accounts.User, task catalog.Task, version int64, bundle *tasks.Bundle,
) error {
	switch c.FormValue("do") {
	case buttonSave:
		return site.Redirect(c, views.TaskPartURL(task.Slug, "files")+"?done=saved")
	case buttonEdit:
		return site.Redirect(c, views.TaskPartURL(task.Slug, "files"))
	case buttonReview:
		return site.Redirect(c, views.TaskPartURL(task.Slug, "changes"))
	}
	return p.startTrial(c, user, task, version, bundle)
}

// showCheckResult renders the editor with the results of a check. bundle is nil if the files cannot be read.
func (p *Authoring) showCheckResult(c *fiber.Ctx, page views.TaskFilesPage, bundle *tasks.Bundle) error {
	page.Checked = true
	if bundle != nil {
		notes, err := p.fileWarnings(c.UserContext(), bundle, page.Files)
		if err != nil {
			return err
		}
		for _, note := range notes {
			page.Notes = append(page.Notes, note.String())
		}
	}
	return p.showFiles(c, page)
}

// newTaskSlug returns a new task's slug: the one in the form, or one derived from the title.
func newTaskSlug(page views.TaskFilesPage) string {
	return db.Slug(cmp.Or(page.Slug, titleInTaskFile(page.Files), page.TaskTitle))
}

// titleInTaskFile returns the title in task.yml, or "" if it has none or is invalid.
func titleInTaskFile(files []views.EditedFile) string {
	if at := views.FileNamed(files, tasks.TaskFile); at >= 0 {
		return tasks.TopLevelText([]byte(files[at].Text), "title")
	}
	return ""
}

// newBundle reads a new task from the editor's form. If the task is invalid, it appends the problems to page.Problems.
func (p *Authoring) newBundle(page *views.TaskFilesPage) (b *tasks.Bundle, refused bool, err error) {
	slug := db.Slug(page.Slug)
	b, problems, err := p.bundleOf(cmp.Or(slug, unnamedTaskFolder), page.Files)
	if err == nil && len(problems) == 0 && slug == "" { // only after the files were read without problems
		slug = db.Slug(b.Definition.Title)
		b.Name = cmp.Or(slug, b.Name)
	}
	switch {
	case err != nil || len(problems) > 0:
	case b.Definition.Title == "":
		page.Problems = append(page.Problems, titleRequiredText)
	case slug == "" || reservedSlug(slug):
		page.Problems = append(page.Problems, slugRequiredText)
	default:
		problems = missingDeviceProblem(b)
	}
	page.Problems = append(page.Problems, problemSentences(problems)...)
	return b, len(page.Problems) > 0, err
}

const (
	titleRequiredText = "The task has no title. Type the one that people should see."
	slugRequiredText  = "A task cannot have this address. Type another one."
	unnamedTaskFolder = "task" // folder of a task without a slug
)

// missingDeviceProblem returns a problem if a new task lists no device: it would have no board, and the editor has no
// other field for devices.
func missingDeviceProblem(b *tasks.Bundle) []parse.Problem {
	if len(draft{TaskProposal: tasks.TaskProposal{Name: b.Name, Bundle: b}}.task().Devices) > 0 {
		return nil
	}
	return []parse.Problem{{File: tasks.TaskFile, Key: "gpus", Message: "names no device: say where the task runs, as in gpus: [H200]"}}
}

// authorMistakes returns the author's mistakes in err as a list, or err itself if it is another error.
func authorMistakes(err error) ([]string, error) {
	if err == nil {
		return nil, nil
	}
	if refused := site.FailureFromError(err); refused.Status < 500 {
		return []string{refused.Message}, nil
	}
	return nil, err
}

// SaveFiles stores edited files, which only editors see, and redirects to the page that the submit button selects.
func (p *Authoring) SaveFiles(c *fiber.Ctx) error {
	task, version, before, err := p.newestBundle(c)
	if err != nil {
		return err
	}
	page, err := readEditorForm(c)
	if err != nil {
		return err
	}
	restoreLineEnds(page.Files, before.Files)
	page.Task, page.Hidden, page.Proposed = site.TaskLink(task), task.CurrentVisibility() == catalog.Hidden, !version.WasPublished()
	bundle, problems, err := p.bundleOf(task.Slug, page.Files)
	if err != nil {
		return err
	}
	page.Problems = append(page.Problems, problemSentences(problems)...)
	if len(page.Problems) > 0 || c.FormValue("do") == buttonCheck {
		return p.showCheckResult(c, page, bundle)
	}
	return p.storeAndRedirect(c, site.Actor(c), task, bundle)
}

// restoreLineEnds restores the original line ends of files, because a browser submits all texts with CRLF.
func restoreLineEnds(files []views.EditedFile, before map[string][]byte) {
	for i, f := range files {
		old := string(before[f.Path])
		switch unix := strings.ReplaceAll(old, "\r\n", "\n"); {
		case unix == old:
		case unix == f.Text:
			files[i].Text = old
		case strings.Count(old, "\r\n") == strings.Count(old, "\n"):
			files[i].Text = strings.ReplaceAll(f.Text, "\n", "\r\n")
		}
	}
}
