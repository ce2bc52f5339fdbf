package views

import (
	"strings"
	"time"

	"golang.org/x/mod/module"
)

// Page has the fields of every page.
type Page struct {
	Title string
	// HeaderSection is the selected link of the header: "tasks", "leaderboards", "devices", "playground", "docs", or
	// "".
	HeaderSection   string
	Viewer          *Viewer      // nil for a visitor
	CSRF            string       // token that every form carries
	Nonce           string       // nonce of inline styles, for the editor
	Theme           string       // "light", "dark", or "" for the system's
	PathAfterSignIn string       // path to return to after signing in
	Notice          string       // one sentence about the last action
	SandboxOff      bool         // programs run without a sandbox; every page warns about it
	Version         string       // version of the program
	HasStream       bool         // the page receives server-sent events, for which it loads htmx
	NeedsChartStyle bool         // the page draws profiles and needs their style
	FullWidth       bool         // the page takes the whole width of the window
	FullHeight      bool         // the page also takes the whole height, without a footer
	EventBanner     *EventBanner // current or next event; nil if there is none
	LinkPreview     *LinkPreview // preview of links on other sites; nil for the default
}

// viewerID returns the viewer's number, or 0 for a visitor.
func (p Page) viewerID() int64 {
	if p.Viewer == nil {
		return 0
	}
	return p.Viewer.ID
}

// LinkPreview has the description of a page for other sites; its addresses are absolute.
type LinkPreview struct {
	Title       string
	Description string // a sentence; empty for the site's description
	URL         string
	ImageURL    string
	FeedURL     string // address of a feed; may be empty
	JSONURL     string // address of the data as JSON; may be empty
	// HiddenFromSearch means that search engines should not list the page.
	HiddenFromSearch bool
}

// descriptionOrDefault returns a sentence about the page.
func (s *LinkPreview) descriptionOrDefault() string {
	if s == nil || s.Description == "" {
		return "Leaderboards for GPU kernels: submit, watch the run live, compare."
	}
	return s.Description
}

// Viewer is the signed-in person who views a page.
type Viewer struct {
	Person
	MayCreateTasks bool // may create tasks
	IsAdmin        bool
	UnreadNotices  int // number of unread notices
}

// Person is a person's name and address.
type Person struct {
	ID   int64
	Name string
}

// TaskRef is a task's name and address.
type TaskRef struct {
	Slug  string
	Title string
}

// timeOrZero returns *t, or the zero time for nil.
func timeOrZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// Deadline is the time when a task closes; the zero Time means that it stays open.
type Deadline struct {
	Time       time.Time
	RenderedAt time.Time // time of rendering the page

	AllowsPractice bool // submissions are also accepted after the deadline
}

// IsSet reports whether there is a deadline.
func (d Deadline) IsSet() bool { return !d.Time.IsZero() }

// AcceptsSubmissions reports whether runs can be submitted.
func (d Deadline) AcceptsSubmissions() bool { return !d.HasPassed() || d.AllowsPractice }

// HasPassed reports whether the deadline has passed.
func (d Deadline) HasPassed() bool { return d.IsSet() && !d.RenderedAt.Before(d.Time) }

// shortVersion returns the version of a release, or the commit of a binary that is not a release.
func shortVersion(version string) string {
	version, _, _ = strings.Cut(version, " ")
	if commit, err := module.PseudoVersionRev(version); err == nil {
		return commit
	}
	return version
}
