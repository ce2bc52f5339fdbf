package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"warpboard/clients/go"
	"warpboard/internal/app/cli/console"
	"warpboard/models/db"
	"warpboard/tasks"
	"warpboard/tasks/changes"
)

// publishedTask is a task that was sent to a site, with the response of the site.
type publishedTask struct {
	*client.Published
	textsBefore, textsAfter map[string]string // whole texts, by the keys of differences; before is nil if unreadable
}

// publish sends the tasks at a path to a site. With alone, the path must have exactly one task. After a refused task,
// publish continues with the others.
func (c *connection) publish(ctx context.Context, from string, p client.Publication, alone bool) error {
	var err error
	if p.Deadline, err = readDeadline(p.Deadline); err != nil {
		return err
	}
	site, err := c.site()
	if err != nil {
		return err
	}
	upload, err := tasks.OpenPath(from)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	defer upload.Close()
	proposals, err := upload.Proposals(time.Now())
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	if alone && len(proposals) != 1 {
		return console.NewUsageError("%s holds %d tasks: publish them with warpboard task sync", from, len(proposals))
	}
	answers, refused := []*client.Published{}, []error{}
	// Each task is one request: after an error, earlier tasks are published. Repeating the command is safe, because
	// unchanged tasks stay unchanged.
	for _, proposal := range proposals {
		answer, err := publishFolder(ctx, site, from, proposal, p)
		if err != nil {
			refused = append(refused, fmt.Errorf("%s: %w", proposal.Name, err))
			continue
		}
		if answers = append(answers, answer.Published); !c.json {
			printPublished(c.newScreen(), answer)
		}
	}
	if c.json {
		err = c.jqFilter.Print(c.env.Stdout, answers)
	}
	return errors.Join(append(refused, err)...)
}

// readDeadline parses a flag: a time in the format of the API, "none", or "".
func readDeadline(text string) (string, error) {
	if text == "" || text == "none" {
		return text, nil
	}
	at, err := tasks.ParseDeadline(text)
	if err != nil {
		return "", console.NewUsageError("--deadline: %w, or none", err)
	}
	return at.Format(time.RFC3339), nil
}

func publishFolder(
	ctx context.Context, site *client.Client, from string, proposal tasks.TaskProposal, p client.Publication,
) (one publishedTask, err error) {
	if proposal.Err != nil {
		return one, proposal.Err
	}
	var data bytes.Buffer
	if err := tasks.WriteZip(&data, proposal.Bundle); err != nil {
		return one, err
	}
	if p.Task == "" {
		if p.Task, err = taskNameOf(from, proposal); err != nil {
			return one, err
		}
	}
	if len(p.Devices) == 0 {
		p.Devices = proposal.GPUs
	}
	before, there, err := downloadBundle(ctx, site, p.Task)
	if err != nil {
		return one, err
	}
	// A default deadline is used only for a new task.
	if p.Deadline == "" && !proposal.Deadline.IsZero() && !(there && proposal.HasAssumedDeadline) {
		p.Deadline = proposal.Deadline.Format(time.RFC3339)
	}
	p.File, p.Data = p.Task+".zip", data.Bytes()
	if one.Published, err = site.PublishTask(ctx, p); err != nil {
		return one, err
	}
	one.Warnings = append(proposal.Notes, one.Warnings...)
	if one.textsAfter = changes.TextsByKey(proposal.Bundle); before != nil {
		one.textsBefore = changes.TextsByKey(before)
	}
	return one, nil
}

// taskNameOf returns the name of a task in addresses: from the problem set, from warpboard.toml in its folder, or
// otherwise the name of the folder.
func taskNameOf(from string, proposal tasks.TaskProposal) (string, error) {
	name := proposal.Name
	if proposal.Deadline.IsZero() { // only tasks of problem sets have a deadline here
		for _, dir := range []string{from, filepath.Join(from, proposal.Folder)} {
			p, _, err := readProject(dir)
			if err != nil {
				return "", err
			}
			if fileExists(filepath.Join(dir, tasks.TaskFile)) && p.Task != "" {
				name = p.Task
				break
			}
		}
	}
	return db.Slug(name), nil
}

// downloadBundle returns the bundle of a task on a site, or nil if its files cannot be read. there is false if the site
// has no such task.
func downloadBundle(ctx context.Context, site *client.Client, slug string) (b *tasks.Bundle, there bool, err error) {
	name, data, err := site.Bundle(ctx, slug)
	var refused *client.Problem
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	upload, err := tasks.OpenFile(name, data)
	if err != nil {
		return nil, true, nil
	}
	list, err := upload.Proposals(time.Now())
	if err != nil || len(list) != 1 {
		return nil, true, nil
	}
	return list[0].Bundle, true, nil
}

func printPublished(s *console.Screen, a publishedTask) {
	did := map[string]string{client.ChangeCreated: "is new", "none": "is as it was", client.ChangeSettings: "has new settings; its boards stay", "texts": "has new texts; its boards stay",
		"version": "has a new version; its boards begin empty"}[a.Change]
	if a.DryRun && a.Change != "none" {
		did = "would change: it " + did
	}
	s.PrintLine("%s %s  %s", a.Task, did, a.URL)
	for _, d := range a.Differences {
		printDifference(s, d, a.textsBefore[d.Key], a.textsAfter[d.Key])
	}
	for _, warning := range a.Warnings {
		s.PrintLine("  warning: %s", warning)
	}
}

// printDifference prints the old and the new value of a key, on one line or, if either has several lines, as a unified
// diff.
func printDifference(s *console.Screen, d client.Difference, before, after string) {
	if before == "" && after == "" || d.Old == "" || d.New == "" {
		before, after = d.Old, d.New
	}
	if !strings.Contains(before+after, "\n") {
		s.PrintLine("  %s: %s → %s", d.Key, quotedTextOrNone(before), quotedTextOrNone(after))
		return
	}
	s.PrintLine("  %s:", d.Key)
	script := string(diff.Diff("site/"+d.Key, []byte(endWithNewline(before)), "here/"+d.Key, []byte(endWithNewline(after))))
	_, script, _ = strings.Cut(script, "\n") // remove the first line, which repeats both names
	for line := range strings.Lines(script) {
		s.PrintLine("    %s", strings.TrimSuffix(line, "\n"))
	}
}

func quotedTextOrNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// endWithNewline adds a newline at the end, because a diff would otherwise mention that it is missing.
func endWithNewline(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
