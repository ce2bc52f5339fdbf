package popcorn

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// Submit accepts a submission. The client polls for the result.
func (p *Popcorn) Submit(c *fiber.Ctx) error {
	sub, all, err := p.submit(c)
	if err != nil {
		return err
	}
	answer := acceptedResponse{Status: "accepted", Details: submissionID{sub.ID}}
	if answer.Queue, err = p.deviceQueue(c.UserContext(), all[0].Device); err != nil {
		return err
	}
	return c.JSON(answer)
}

// SubmitAndFollow accepts a submission and streams its progress and result. popcorn-cli uses it for profiles, and
// before 1.3.16 for every mode.
func (p *Popcorn) SubmitAndFollow(c *fiber.Ctx) error { return p.streamSubmission(c) }

func (p *Popcorn) submit(c *fiber.Ctx) (sub submissions.Submission, all []work.Run, err error) {
	in, err := p.readForm(c)
	if err != nil {
		return sub, nil, err
	}
	return p.runs.Submit(c.UserContext(), site.Actor(c), in)
}

// SubmitProfile accepts a submission in mode profile, with options for Nsight Compute as form fields, and streams its
// progress and result.
func (p *Popcorn) SubmitProfile(c *fiber.Ctx) error { return p.streamSubmission(c) }

// readForm reads a submission from the path and the form. A path without a mode means mode profile.
func (p *Popcorn) readForm(c *fiber.Ctx) (in submissions.NewSubmission, err error) {
	in = submissions.NewSubmission{TaskSlug: c.Params("leaderboard"), Devices: []string{c.Params("gpu")}, Via: "popcorn"}
	if in.Mode, err = parseMode(c.Params("mode", string(job.ModeProfile))); err != nil {
		return in, err
	}
	if _, err := p.taskOfPath(c); err != nil { // before the form, so that a wrong name is reported first
		return in, err
	}
	if !strings.HasPrefix(c.Get(fiber.HeaderContentType), fiber.MIMEMultipartForm) {
		return in, site.Invalid("file", `Send the source as a form (multipart/form-data) with one file under the name "file".`)
	}
	form, err := c.MultipartForm()
	if err != nil {
		return in, site.Invalid("file", "The form could not be read: it is cut off, or has no boundary.")
	}
	if len(form.File["file"]) == 0 {
		return in, site.Invalid("file", `The form has no file under the name "file".`)
	}
	if in.Mode == job.ModeProfile {
		if in.ProfileFilter, err = readProfileFilter(form.Value, c.Params("mode") == ""); err != nil {
			return in, err
		}
	}
	return p.runs.SetUploadedFiles(c, in, form.File["file"])
}

// profiledLaunches is popcorn-cli's default for the number of profiled launches of a case.
const profiledLaunches = "10"

// readProfileFilter reads popcorn-cli's profile options. own means that the path is the one for profiles, where each
// case gets a separate report file.
func readProfileFilter(form map[string][]string, own bool) (*job.ProfileFilter, error) {
	named := map[string][]string{"benchmark": form["benchmark_index"], "kernel": form["ncu_kernel_name"],
		"kernel_name_base": form["ncu_kernel_name_base"], "launch_count": form["ncu_launch_count"]}
	if own && len(named["launch_count"]) == 0 {
		named["launch_count"] = []string{profiledLaunches}
	}
	return runs.ReadProfileFilter(named)
}

// parseMode parses the name of a mode, of KernelBot or of this site.
func parseMode(name string) (job.Mode, error) {
	switch mode := job.Mode(strings.ToLower(name)); mode {
	case job.ModeTest, job.ModeBenchmark, job.ModeRanked, job.ModeProfile, job.ModeSanitize:
		return mode, nil
	case "leaderboard":
		return job.ModeRanked, nil
	}
	return "", site.Invalid("mode", "There is no mode %q: choose test, benchmark, leaderboard, profile or sanitize.", name)
}

// modeName returns KernelBot's name of a mode.
func modeName(mode job.Mode) string {
	if work.WorkerMode(mode) == job.ModeRanked {
		return "leaderboard"
	}
	return string(mode)
}
