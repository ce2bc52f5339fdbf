package docs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLinksLeadToThePagesOfTheSite(t *testing.T) {
	for text, want := range map[string]string{
		"[how](measuring.md#what-it-is-not)":   "[how](/docs/measuring#what-it-is-not)",
		"[here](#below)":                       "[here](#below)",
		"[deploy](../deploy/nats.conf)":        "deploy",
		"[elsewhere](https://example.org/a#b)": "[elsewhere](https://example.org/a#b)",
		"as `/trust` says":                     "as [`/trust`](/trust) says",
		"`/trusted`":                           "`/trusted`",
	} {
		if got := linksToSite(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestHeadingsOfCodeAreNone(t *testing.T) {
	got := headingsOf("\n## One, and `two`\n\n```sh\n## no heading\n```\n### Three\n")
	if diff := cmp.Diff([]string{"One, and `two`", "Three"}, got); diff != "" {
		t.Error(diff)
	}
	if got := Anchor("One, and `two`"); got != "one-and-two" {
		t.Errorf("the anchor is %q", got)
	}
}

// TestTheIndexOfTheFolderHasEachPage checks docs/README.md, which GitHub shows: it must list the site's pages, in the
// same order.
func TestTheIndexOfTheFolderHasEachPage(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := Pages()
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	group := ""
	for _, p := range pages {
		if p.Audience != group {
			group = p.Audience
			want.WriteString("\n## " + group + "\n\n")
			for _, own := range ownPages[group] {
				want.WriteString(own + "\n")
			}
		}
		want.WriteString("- [" + p.Title + "](" + p.Name + ".md): " + p.Summary + "\n")
	}
	_, got, _ := strings.Cut(string(text), "\n## "+AudienceUse)
	got = "\n## " + AudienceUse + got
	got, _, _ = strings.Cut(got, "\n## For developers")
	if diff := cmp.Diff(want.String(), got); diff != "" {
		t.Errorf("docs/README.md differs (-want +got):\n%s", diff)
	}
}

// ownPages has the lines of docs/README.md about pages that the site generates, which have no Markdown file.
var ownPages = map[string][]string{
	AudienceAuthor:     {"- Task format (`/docs/tasks` on each site): every key of `task.yml` with an example, and starters to download."},
	AudienceAutomate:   {"- API reference (`/api` on each site): every address, parameter, and answer; OpenAPI to download."},
	AudienceUnderstand: {"- What a score means (`/trust` on each site): the short version, with the attacks that are tried and their outcomes."},
}

func TestEachFileIsListedOrForDevelopers(t *testing.T) {
	found, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range found {
		name := strings.TrimSuffix(file, ".md")
		if !slices.Contains(PageNames(), name) && !slices.Contains([]string{"README", "pages", "queries", "style"}, name) {
			t.Errorf("%s is on no list", file)
		}
	}
}
