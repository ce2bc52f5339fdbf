package runs

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/submissions"
	"warpboard/models/switches"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/web/site"
)

// ReadForm reads the form of a submission. Uploaded files take precedence over text fields.
func (s *Runs) ReadForm(c *fiber.Ctx) (submissions.NewSubmission, error) {
	in := submissions.NewSubmission{TaskSlug: c.Params("slug"), Mode: job.Mode(c.FormValue("mode")), Via: "web",
		AddedByAdmin: submissions.AdminSubmission{PersonName: c.FormValue("for"), Reason: c.FormValue("why")}}
	form, err := c.MultipartForm()
	if err != nil {
		return in, site.Invalid("form", "The form is incomplete. Send it again.")
	}
	in.Devices = form.Value["device"]
	if in.Mode == job.ModeProfile { // the workbench sends the fields of the profile filter in every mode
		if in.ProfileFilter, err = ReadProfileFilter(form.Value); err != nil {
			return in, err
		}
	}
	if files := form.File["file"]; len(files) > 0 && files[0].Filename != "" {
		return s.SetUploadedFiles(c, in, files)
	}
	// "filename" is the name of a file that the person loaded into the editor.
	in.FileName = c.FormValue("filename")
	in.Source = toUnixLineEnds(c.FormValue("source"))
	in.AdditionalFiles, err = readTypedFiles(form)
	return in, err
}

// RefusedSubmitForm returns the form of a refused submission with its input and the reason.
func RefusedSubmitForm(in submissions.NewSubmission, why string) views.SubmitForm {
	return views.SubmitForm{
		Source: string(in.Source), Further: AdditionalFiles(in.AdditionalFiles), SentName: in.FileName,
		Devices: ChosenDevices(in.Devices), Mode: string(in.Mode), Problem: why, Filter: in.ProfileFilter,
		For: in.AddedByAdmin.PersonName, Why: in.AddedByAdmin.Reason,
	}
}

// FillSubmitForm sets the choices of a task's submission form and its initial text: the text of a refused form, the
// submission of ?from= or ?run=, the template of ?template=, or the first template. With ?from= the browser keeps a
// separate draft; with ?run= an existing draft of the task takes precedence.
func (s *Runs) FillSubmitForm(
	c *fiber.Ctx, page views.Page, task catalog.Task, bundle *tasks.Bundle, form *views.SubmitForm,
) error {
	d := bundle.Definition
	form.Page, form.Task, form.Lang, form.Filename, form.AllowedFiles = page, site.TaskLink(task), d.Lang, d.SubmissionName(), d.SubmissionFiles
	form.Words = taskWords(bundle)
	from, run := int64(max(c.QueryInt("from"), 0)), int64(max(c.QueryInt("run"), 0))
	if id := cmp.Or(from, run); id > 0 && form.Problem == "" {
		form.Edits = from > 0
		if err := s.fillFromEarlier(c, id, form); err != nil {
			return err
		}
	}
	if form.Source == "" && form.Problem == "" {
		form.Template = c.Query("template")
		form.Source = FirstTemplate(form.Template, bundle)
	}
	known, off, err := s.devicesAndSwitches(c.UserContext(), accounts.User{})
	choices := DeviceChoicesAmong(known, task.Devices, form.Devices)
	form.Off = switches.FirstOffSentence(off, switches.SubmissionsSwitch, switches.TaskSwitchName(task.ID))
	form.Devices, form.Modes, form.SanitizeFirst, form.RefuseLibrary = choices, offeredModes(d.Lang, choices), d.RequiresCleanSanitizerRun, d.RefuseLibraryKernels
	return err
}

// fillFromEarlier fills the form with an earlier submission to the task, if the viewer may read its source.
func (s *Runs) fillFromEarlier(c *fiber.Ctx, id int64, form *views.SubmitForm) error {
	seen, err := s.SubmissionByID(c.UserContext(), site.Actor(c), id)
	if db.KindOf(err) == db.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if !seen.MaySeeSource || seen.Task.Slug != form.Task.Slug {
		return nil
	}
	submitted, err := s.site.Store.Submissions.Source(c.UserContext(), seen.Submission)
	if err != nil {
		return err
	}
	list, err := s.site.Store.Work.Runs(c.UserContext(), id)
	if err != nil {
		return err
	}
	form.Source, form.Further, form.Mode, form.From = string(submitted.Source), AdditionalFiles(submitted.Files), string(seen.Submission.Mode), id
	form.Filter = seen.Submission.ProfileFilter
	if form.Remarks, err = s.Remarks(c.UserContext(), seen, submitted.Names()); err != nil {
		return err
	}
	for _, run := range list {
		form.Devices = append(form.Devices, views.DeviceChoice{Device: run.Device, Chosen: true})
	}
	return nil
}

// FirstTemplate returns the template with a label, or the first template.
func FirstTemplate(label string, bundle *tasks.Bundle) string {
	if text, ok := bundle.Template(label); ok {
		return string(text)
	}
	for _, label := range slices.Sorted(maps.Keys(bundle.Definition.Templates)) {
		text, _ := bundle.Template(label)
		return string(text)
	}
	return ""
}

const maxTaskWords = 100

var taskWordPattern = regexp.MustCompile(`[A-Za-z_]\w{2,}`)

// taskWords returns the identifiers that the task's header or module defines, for completion in the editor.
func taskWords(bundle *tasks.Bundle) (words []string) {
	for _, f := range bundle.Definition.Files {
		if f.Name != "task.h" && f.Name != "task.py" {
			continue
		}
		for _, word := range taskWordPattern.FindAllString(taskCommentPattern.ReplaceAllString(string(bundle.Files[f.Source]), ""), -1) {
			if len(words) < maxTaskWords && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	return words
}

var taskCommentPattern = regexp.MustCompile(`(?m)//.*$|#.*$|(?s:/\*.*?\*/|""".*?""")`)

// Remarks returns messages of compute-sanitizer or the compiler about lines of a submission. They come from the first
// run that has any.
func (s *Runs) Remarks(ctx context.Context, seen SubmissionAccess, further []string) ([]views.Remark, error) {
	of := views.SourceNames{
		MainFileNames:    []string{seen.Submission.FileName},
		IsAdditionalFile: func(name string) bool { return slices.Contains(further, name) },
	}
	for _, f := range seen.Version.Definition.Files {
		if f.IsSubmission() {
			of.MainFileNames = append(of.MainFileNames, f.Name)
		}
	}
	read, err := s.ReadSubmission(ctx, seen)
	for _, run := range read.Runs {
		for _, stage := range run.Stages {
			if remarks := views.FindingRemarks(stage.Findings, of); len(remarks) > 0 {
				return remarks, nil
			}
			if stage.Stage != job.StageBuild && stage.Status == job.StatusPass {
				continue
			}
			if remarks := views.ParseRemarks(stage.Stderr+"\n"+stage.Stdout, of); len(remarks) > 0 {
				return remarks, nil
			}
		}
	}
	return nil, err
}
