package runs

import (
	"fmt"
	"mime/multipart"
	"path"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/db"
	"warpboard/models/submissions"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/web/site"
)

// ReadUploads reads the uploaded files of a submission by name, in total up to one byte more than the limit. It returns
// an error for duplicate names.
func ReadUploads(headers []*multipart.FileHeader) (map[string][]byte, error) {
	files, left := map[string][]byte{}, int64(tasks.MaxSubmission)
	for _, header := range headers {
		if _, twice := files[header.Filename]; twice {
			return nil, site.Invalid("file", "Two of the files are called %q.", header.Filename)
		}
		data, err := site.ReadUpload(header, max(left, 0))
		if err != nil {
			return nil, err
		}
		files[header.Filename], left = data, left-int64(len(data))
		if len(files) > tasks.MaxSubmissionFiles+1 {
			return nil, site.Invalid("file", "Too many files: a submission has one main file and at most %d further files.", tasks.MaxSubmissionFiles)
		}
	}
	return files, nil
}

// readTypedFiles reads additional files that a form contains as pairs of name and text. It skips empty pairs.
func readTypedFiles(form *multipart.Form) (map[string][]byte, error) {
	names, texts := form.Value["further_name"], form.Value["further_text"]
	var files map[string][]byte
	for i, name := range names {
		if i >= len(texts) {
			break
		}
		name = strings.TrimSpace(name)
		switch _, twice := files[name]; {
		case name == "" && strings.TrimSpace(texts[i]) == "":
			continue
		case name == "":
			return files, site.Invalid("file", "A further file has no name.")
		case twice:
			return files, site.Invalid("file", "Two of the further files are called %q.", name)
		}
		if files == nil {
			files = map[string][]byte{}
		}
		files[name] = toUnixLineEnds(texts[i])
	}
	return files, nil
}

// toUnixLineEnds replaces the CRLF line ends of form fields by LF.
func toUnixLineEnds(text string) []byte { return []byte(strings.ReplaceAll(text, "\r\n", "\n")) }

// SetUploadedFiles sets the files of a submission from uploads: one file, several, or a zip. The task's file names
// select the main file.
func (s *Runs) SetUploadedFiles(
	c *fiber.Ctx, in submissions.NewSubmission, chosen []*multipart.FileHeader,
) (submissions.NewSubmission, error) {
	files, err := ReadUploads(chosen)
	if err != nil {
		return in, err
	}
	if first := chosen[0].Filename; len(files) == 1 && strings.EqualFold(path.Ext(first), ".zip") {
		if files, err = tasks.UnzipSubmission(files[first]); err != nil {
			return in, db.Errorf(db.Invalid, "The zip cannot be submitted: %v.", err)
		}
	}
	if len(files) == 1 {
		for in.FileName, in.Source = range files { // sets name and source to those of the only file
		}
		return in, nil
	}
	task, err := s.VisibleTask(c.UserContext(), site.Actor(c), db.Slug(in.TaskSlug))
	if err != nil {
		return in, err
	}
	version, err := s.site.Store.Catalog.Version(c.UserContext(), task.VersionID)
	if err != nil {
		return in, err
	}
	main, submitted, err := version.Definition.FindMainFile(files)
	if err != nil {
		return in, db.Errorf(db.Invalid, "These files cannot be submitted: %v.", err)
	}
	in.FileName, in.Source, in.AdditionalFiles = main, submitted.Source, submitted.Files
	return in, nil
}

// SendSource responds with a submission as a download: the source, or a zip if it has additional files.
func SendSource(c *fiber.Ctx, sub submissions.Submission, submitted tasks.Submission) error {
	if len(submitted.Files) == 0 {
		return site.SendAttachment(c, sub.FileName, submitted.Source)
	}
	archive, err := submitted.Zip(sub.FileName)
	if err != nil {
		return err
	}
	return site.SendAttachment(c, fmt.Sprintf("submission-%d.zip", sub.ID), archive)
}

// AdditionalFiles lists the additional files of a submission for its form.
func AdditionalFiles(files map[string][]byte) (list []views.FurtherFile) {
	for _, name := range (tasks.Submission{Files: files}).Names() {
		list = append(list, views.FurtherFile{Name: name, Text: string(files[name])})
	}
	return list
}

// SubmittedFiles lists the files of a submission for pages, the main one first.
func SubmittedFiles(
	code *views.Highlighter, sub submissions.Submission, submitted tasks.Submission,
) []views.SourceFile {
	colours := code.NewSourceLimiter()
	files := []views.SourceFile{colours.ColorFile(sub.FileName, "", submitted.Source)}
	for _, name := range submitted.Names() {
		files = append(files, colours.ColorFile(name, name+"-", submitted.Files[name]))
	}
	return files
}
