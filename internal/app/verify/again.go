package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"warpboard/clients/go"
	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/internal/app/cli/console"
	"warpboard/internal/statement"
	"warpboard/models/catalog"
	"warpboard/tasks"
)

// get downloads from a site. The token goes to no other, also where this one redirects (client.New).
func (o *verifyResultOptions) get(ctx context.Context, address string) ([]byte, error) {
	site, path := client.New(address, ""), ""
	// The slash ends the host: without it, site.example.org would be the prefix of site.example.org.evil.net.
	if below, ok := strings.CutPrefix(address, strings.TrimRight(o.site, "/")+"/"); ok {
		site, path = client.New(o.site, o.token), "/"+below
	}
	text, err := site.Download(ctx, path)
	return text, refusal(address, err)
}

// refusal is an error without the exit code of a site's refusal, which would be one of verify-result's own.
func refusal(address string, err error) error {
	var refused *client.Problem
	if errors.As(err, &refused) {
		return fmt.Errorf("%s answered %d: %s", address, refused.Status, refused.Error())
	}
	return err
}

// siteOf is the site of an API address: the part before "/api/v1/", including the site's path.
func siteOf(address string) string {
	if at := strings.LastIndex(address, "/api/v1/"); at >= 0 {
		return address[:at]
	}
	if page := pageOf.FindStringSubmatch(address); page != nil {
		return page[1]
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// repeat measures a statement's kernel on this machine.
func (o *verifyResultOptions) repeat(ctx context.Context, env console.Environment, s statement.Statement) (again statement.Score, err error) {
	submitted, err := o.sourceOf(ctx, s)
	if err != nil {
		return again, console.ExitWith(exitUnrun, "not measured again: %w", err)
	}
	bundle, err := o.taskOf(ctx, s)
	if err != nil {
		return again, console.ExitWith(exitUnrun, "not measured again: %w", err)
	}
	// Only a warning: scores of two harnesses need not agree, and the intervals say whether they do.
	if digest := harness.DigestFor(bundle.Definition); digest != s.Result.Harness.Digest.SHA256 {
		fmt.Fprintln(env.Stdout, "warning: this program's harness differs from the site's")
	}
	v := &verifier{options: o.verifyOptions, env: env}
	// The statement names the device. It is signed by the site, which need not be honest: nothing but the choice of a
	// local slot follows.
	v.options.device = s.Result.Machine.Device
	slot, err := v.slotFor(ctx, tasks.Proposal{Bundle: bundle})
	if err != nil {
		return again, console.ExitWith(exitUnrun, "not measured again: %w", err)
	}
	result, err := v.run(ctx, bundle, slot, "the source", submitted, job.ModeRanked)
	if err != nil {
		return again, err
	}
	if result.Outcome != job.OutcomeDone {
		return again, console.ExitWith(exitDisagrees, "the source does not pass here: %s", why(result))
	}
	return scoreOf(bundle.Definition.RankingBy, result)
}

func scoreOf(ranking tasks.Ranking, result job.Result) (score statement.Score, err error) {
	for _, stage := range result.Stages {
		if stage.Stage != job.StageRanked {
			continue
		}
		// Computed by the same code as the site's: a mistake in it shows on neither side.
		if score.NS, err = harness.Score(ranking, stage.Cases); err != nil {
			return score, err
		}
		interval, _ := harness.ScoreInterval(ranking, score.NS, stage.Cases)
		if score.Processes, score.Noisy = interval.Processes, interval.Noisy; interval.High > 0 {
			score.Low, score.High = &interval.Low, &interval.High
		}
	}
	return score, nil
}

// sourceOf is what was submitted, if its digest says that it is.
func (o *verifyResultOptions) sourceOf(ctx context.Context, s statement.Statement) (submitted tasks.Submission, err error) {
	if len(o.source) > 0 {
		submitted, err = tasks.ReadSubmission(o.source, os.ReadFile)
	} else {
		submitted, err = o.askSource(ctx, s.Result.Submission)
	}
	// The digest is in the statement, so that neither the site nor anyone who gives the file can pass another source off.
	if err == nil && statement.Hash(submitted.Pack()) != s.Source() {
		err = errors.New("the source is not the one that was measured: its SHA-256 differs")
	}
	return submitted, err
}

// askSource gets the submitted source from the site.
func (o *verifyResultOptions) askSource(ctx context.Context, id int64) (tasks.Submission, error) {
	var file client.SourceFile
	text, err := o.get(ctx, fmt.Sprintf("%s/api/v1/submissions/%d/source", o.site, id))
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil {
		return tasks.Submission{}, fmt.Errorf("the source is not public (%w): name its files with --source, the main one first", err)
	}
	return file.Submission(), nil
}

// taskOf is the task, if its digest says that it is the one.
func (o *verifyResultOptions) taskOf(ctx context.Context, s statement.Statement) (*tasks.Bundle, error) {
	path := o.task
	if path == "" {
		text, err := o.get(ctx, fmt.Sprintf("%s/tasks/%s/bundle.zip?version=%d", o.site, url.PathEscape(s.Result.Task.Slug), s.Result.Task.Version))
		if err != nil {
			return nil, fmt.Errorf("the task is not public (%w): name its folder with --task", err)
		}
		dir, err := os.MkdirTemp("", "warpboard-task")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		path = filepath.Join(dir, s.Result.Task.Slug+".zip")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return nil, err
		}
	}
	upload, err := tasks.OpenPath(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer upload.Close()
	proposals, err := upload.Proposals(time.Now())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var seen []string
	for _, p := range proposals {
		if p.Err == nil && catalog.MeasuredKey(p.Bundle) == s.TaskDigest() {
			return p.Bundle, nil
		}
		seen = append(seen, p.Name)
	}
	return nil, fmt.Errorf("none of %s is the task that was measured: the digest differs", strings.Join(seen, ", "))
}
