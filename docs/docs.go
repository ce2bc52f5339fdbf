package docs

import (
	"embed"
	"regexp"
	"slices"
	"strings"
)

//go:embed ci.md install.md proxy.md sign-in.md backup.md security.md kernelbot.md measuring.md scale.md datasets.md evaluation-server.md
var files embed.FS

// Page is one of them.
type Page struct {
	Name  string // in its address
	Title string
	About string // what it says, in a sentence
	For   string // its readers
	Text  string // Markdown, without its title
}

// Whom pages are for.
const (
	Kernels = "Writing kernels"
	Tasks   = "Making tasks"
	Sites   = "Running a site"
)

// listed are the pages in the order in which they are listed.
var listed = []Page{
	{Name: "measuring", For: Kernels, About: "How a call becomes a time, times become a score, and scores a rank; known weaknesses."},
	{Name: "evaluation-server", For: Kernels, About: "Single kernels without a task, for clients of the CUDA Evaluation Server V2: what fields mean, and what differs."},
	{Name: "datasets", For: Kernels, About: "The entries and sources of a closed task as Parquet or JSON lines: columns, pages, licence."},
	{Name: "ci", For: Kernels, About: "A repository's kernels against a base branch: the command, its exit codes, an action for GitHub."},
	{Name: "kernelbot", For: Tasks, About: "Which of KernelBot's files work as they are, and what differs."},
	{Name: "install", For: Sites, About: "From a download to a first result: program, service, worker."},
	{Name: "proxy", For: Sites, About: "What nginx or Caddy must pass on, with example files."},
	{Name: "sign-in", For: Sites, About: "Providers, their keys, and the callback addresses to register."},
	{Name: "backup", For: Sites, About: "What to keep, how to restore it, how to upgrade."},
	{Name: "security", For: Sites, About: "Who is trusted with what, and what confines submissions."},
	{Name: "scale", For: Sites, About: "More workers, more processes, more machines: what to add, and what breaks first."},
}

// Names are those of all pages, as their addresses have them.
func Names() (names []string) {
	for _, page := range listed {
		names = append(names, page.Name)
	}
	return names
}

// Pages are all of them. Links between them lead to the site's addresses; what they link to in the source is named alone.
func Pages() (list []Page, err error) {
	for _, page := range listed {
		text, err := files.ReadFile(page.Name + ".md")
		if err != nil {
			return nil, err
		}
		title, body, _ := strings.Cut(string(text), "\n")
		body = strings.NewReplacer("\n## ", "\n# ", "\n### ", "\n## ").Replace(body) // the page's title stands above them
		page.Title, page.Text = strings.TrimPrefix(title, "# "), link.ReplaceAllStringFunc(body, toSite)
		list = append(list, page)
	}
	return list, nil
}

var link = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]*)\)`)

func toSite(found string) string {
	parts := link.FindStringSubmatch(found)
	text, target := parts[1], parts[2]
	name, _, _ := strings.Cut(target, "#")
	switch page := strings.TrimSuffix(name, ".md"); {
	case strings.HasPrefix(target, "https://"):
		return found
	case slices.ContainsFunc(listed, func(p Page) bool { return p.Name == page }): // headings have no addresses there
		return "[" + text + "](/docs/" + page + ")"
	}
	return text
}
