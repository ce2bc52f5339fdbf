package docs

import (
	"embed"
	"regexp"
	"slices"
	"strings"
)

//go:embed *.md
var documentFiles embed.FS

// Page is one page of the documentation.
type Page struct {
	Name     string // name of the page in its URL
	Title    string
	Summary  string // summary in a sentence
	Audience string // kind of readers for whom the page is
	Headings []string
	text     string // Markdown, without its title
}

// Kinds of readers, by which pages are grouped.
const (
	AudienceUse        = "Use"
	AudienceAuthor     = "Author tasks"
	AudienceOperate    = "Operate"
	AudienceAutomate   = "Automate"
	AudienceUnderstand = "Understand"
)

// pageOrder lists the pages in the order of the site's index.
var pageOrder = []Page{
	{Name: "submit", Audience: AudienceUse, Summary: "Write a kernel, test it, and rank it: in the browser or from the command line."},
	{Name: "boards", Audience: AudienceUse, Summary: "Ties, intervals, marks, records, history, and downloads."},
	{Name: "leaderboards", Audience: AudienceUse, Summary: "Points, medals, records, and seasons over all tasks."},
	{Name: "suites", Audience: AudienceUse, Summary: "Compare people and agents over many tasks: fast_p, geometric mean, share correct."},
	{Name: "profiles", Audience: AudienceUse, Summary: "Find out what bounds your kernel with Nsight Compute in the page."},
	{Name: "sanitize", Audience: AudienceUse, Summary: "Find memory errors, races, and wrong barriers with compute-sanitizer, at their lines."},
	{Name: "compare", Audience: AudienceUse, Summary: "See whether a change made your kernel faster, where, and why."},
	{Name: "comments", Audience: AudienceUse, Summary: "Comment on tasks and public sources, and choose which notices you get."},
	{Name: "cli", Audience: AudienceUse, Summary: "Install the command, sign in, and work with one or several sites."},
	{Name: "transcript", Audience: AudienceUse, Summary: "A recorded session, from the first sign-in to CI."},
	{Name: "first-task", Audience: AudienceAuthor, Summary: "Make, check, try, and publish a task."},
	{Name: "events", Audience: AudienceAuthor, Summary: "Run a contest: several tasks with one end, points, a freeze, and a step-by-step reveal."},
	{Name: "validation", Audience: AudienceAuthor, Summary: "Run a script that tries the top entries of a closed board in an application."},
	{Name: "harness", Audience: AudienceAuthor, Summary: "How kernels are called and checked, and when a task uses its own program."},
	{Name: "kernelbot", Audience: AudienceAuthor, Summary: "Keep using popcorn-cli and KernelBot task folders, and see what differs."},
	{Name: "import", Audience: AudienceAuthor, Summary: "Make tasks of problems of KernelBench, SOL-ExecBench, FlashInfer Trace, and LeetGPU."},
	{Name: "install", Audience: AudienceOperate, Summary: "From a download to a first result: binary, service, worker."},
	{Name: "settings", Audience: AudienceOperate, Summary: "Flags, environment variables, and the settings file; which ones to set first."},
	{Name: "sign-in", Audience: AudienceOperate, Summary: "Providers, their keys, and the callback addresses to register."},
	{Name: "workers", Audience: AudienceOperate, Summary: "Add GPU machines, take them out, and fix a slot that is out of service."},
	{Name: "proxy", Audience: AudienceOperate, Summary: "nginx and Caddy in front of the site, also below a path."},
	{Name: "backup", Audience: AudienceOperate, Summary: "What to keep, and how to restore it."},
	{Name: "upgrade", Audience: AudienceOperate, Summary: "Upgrade and restart without an outage; what happens to running work."},
	{Name: "scale", Audience: AudienceOperate, Summary: "More workers, processes, and machines: what to add, and what breaks first."},
	{Name: "security", Audience: AudienceOperate, Summary: "Whom you trust with what, how submissions are isolated, and what requests may cost."},
	{Name: "metrics", Audience: AudienceOperate, Summary: "Health checks, Prometheus, logs, alerts, limits, and disk space."},
	{Name: "api", Audience: AudienceAutomate, Summary: "The JSON API: tokens, errors, single kernels without a task, and who may call it."},
	{Name: "agents", Audience: AudienceAutomate, Summary: "Set up a client; tools and resources."},
	{Name: "python", Audience: AudienceAutomate, Summary: "Submit, wait, and compare from Python."},
	{Name: "ci", Audience: AudienceAutomate, Summary: "Compare a repository's kernels with a base branch, in any CI system or with a GitHub action."},
	{Name: "rl", Audience: AudienceAutomate, Summary: "Use a site as the reward of a training loop: reward function, states, trust, and limits."},
	{Name: "webhooks", Audience: AudienceAutomate, Summary: "Notify other programs of runs, records, and lost workers."},
	{Name: "evaluation-server", Audience: AudienceAutomate, Summary: "Point these clients at a site, and see what differs."},
	{Name: "datasets", Audience: AudienceAutomate, Summary: "The entries and sources of a closed task as Parquet or JSON lines."},
	{Name: "measuring", Audience: AudienceUnderstand, Summary: "How a call becomes a time, a score, and a rank; known weaknesses."},
	{Name: "figures", Audience: AudienceUnderstand, Summary: "Measured: attacks, clocks, the spread of scores, and what a CPU's clock can hide."},
	{Name: "architecture", Audience: AudienceUnderstand, Summary: "Terms, packages, and the path of a submission, an event, and a page."},
}

// PageNames returns the names of all pages, as their URLs have them.
func PageNames() (names []string) {
	for _, page := range pageOrder {
		names = append(names, page.Name)
	}
	return names
}

// Text returns the Markdown of the page without its title. Links to other pages become URLs of the site; of a link to
// source code only its text remains. This conversion takes most of the time of Pages, so it happens only for pages that
// are shown.
func (p Page) Text() string { return linksToSite(p.text) }

// Pages returns all pages.
func Pages() (list []Page, err error) {
	for _, page := range pageOrder {
		text, err := documentFiles.ReadFile(page.Name + ".md")
		if err != nil {
			return nil, err
		}
		title, body, _ := strings.Cut(string(text), "\n")
		page.Headings = headingsOf(body)
		// Raise headings by one level, because the title is separate.
		body = strings.NewReplacer("\n## ", "\n# ", "\n### ", "\n## ").Replace(body)
		page.Title, page.text = strings.TrimPrefix(title, "# "), body
		list = append(list, page)
	}
	return list, nil
}

// Anchor returns the anchor of a heading, as on GitHub.
func Anchor(heading string) string {
	kept := anchorSeparators.ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(strings.TrimSpace(kept), " ", "-")
}

var (
	anchorSeparators = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	headingPattern   = regexp.MustCompile(`^##+ (.*)`)
	// linkPattern matches a link, or an address of the site in backquotes, which GitHub shows as text and the site as a
	// link.
	linkPattern = regexp.MustCompile("\\[([^\\]]*)\\]\\(([^)\\s]*)\\)|`(/(?:docs/tasks|leaderboards|trust|api|harness|playground|devices|webhooks|me|tasks/new|clients/python/))`")
)

// headingsOf returns the headings of a page, except for lines of code that look like headings.
func headingsOf(text string) (list []string) {
	code := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		if found := headingPattern.FindStringSubmatch(strings.TrimSpace(line)); found != nil && !code {
			list = append(list, found[1])
		}
	}
	return list
}

// linksToSite replaces the links of a page by URLs of the site.
func linksToSite(text string) string {
	return linkPattern.ReplaceAllStringFunc(text, func(found string) string {
		parts := linkPattern.FindStringSubmatch(found)
		if address := parts[3]; address != "" {
			return "[" + found + "](" + address + ")"
		}
		name, at, _ := strings.Cut(parts[2], "#")
		if at != "" {
			at = "#" + at
		}
		switch page := strings.TrimSuffix(name, ".md"); {
		case strings.HasPrefix(parts[2], "https://"), strings.HasPrefix(parts[2], "#"):
			return found
		case slices.ContainsFunc(pageOrder, func(p Page) bool { return p.Name == page }):
			return "[" + parts[1] + "](/docs/" + page + at + ")"
		}
		return parts[1]
	})
}
