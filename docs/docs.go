package docs

import (
	"embed"
	"regexp"
	"slices"
	"strings"
)

//go:embed install.md proxy.md sign-in.md backup.md security.md kernelbot.md measuring.md scale.md
var files embed.FS

// Page is one of them.
type Page struct {
	Name  string // in its address
	Title string
	Text  string // Markdown, without its title
}

// names is the order in which they are listed.
var names = []string{"install", "proxy", "sign-in", "backup", "security", "scale", "measuring", "kernelbot"}

// Pages are all of them. Links between them lead to the site's addresses; what they link to in the source is named alone.
func Pages() (list []Page, err error) {
	for _, name := range names {
		text, err := files.ReadFile(name + ".md")
		if err != nil {
			return nil, err
		}
		title, body, _ := strings.Cut(string(text), "\n")
		body = strings.NewReplacer("\n## ", "\n# ", "\n### ", "\n## ").Replace(body) // the page's title stands above them
		list = append(list, Page{Name: name, Title: strings.TrimPrefix(title, "# "), Text: link.ReplaceAllStringFunc(body, toSite)})
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
	case slices.Contains(names, page): // headings have no addresses there
		return "[" + text + "](/docs/" + page + ")"
	}
	return text
}
