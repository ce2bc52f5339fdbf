package views

import (
	"strings"
	"time"

	"golang.org/x/mod/module"
)

// Page has the fields of every page.
type Page struct {
	Title      string
	Section    string       // which link of the head is current: "tasks", "leaderboards", "devices", "playground", "docs" or nothing
	Viewer     *Viewer      // nil for a visitor
	CSRF       string       // token that every form carries
	Nonce      string       // nonce of inline styles, for the editor
	Theme      string       // "light", "dark", or nothing: as the system
	Next       string       // path to come back to after signing in
	Notice     string       // one sentence about what was just done
	SandboxOff bool         // programs run unprotected; every page says so
	Version    string       // of the program
	Live       bool         // the page has a stream and needs htmx
	Charts     bool         // the page draws profiles and needs their style
	Wide       bool         // the page takes the whole width of the window
	Full       bool         // and its whole height, without a footer
	Event      *EventBanner // that goes on or comes soon; nil: none does
	Share      *Share       // what other sites show for a link to it; nil: the default
}

// viewerID is the viewer's number; a visitor is no one, 0.
func (p Page) viewerID() int64 {
	if p.Viewer == nil {
		return 0
	}
	return p.Viewer.ID
}

// Share describes a page to other sites; addresses are whole ones.
type Share struct {
	Title string
	About string // a sentence; empty: what is said of the site
	URL   string
	Image string
	Feed  string // of what happens there; empty: none
	JSON  string // the same for programs; empty: none
	// Unlisted keeps the page out of search engines.
	Unlisted bool
}

// about describes a page in a sentence.
func (s *Share) about() string {
	if s == nil || s.About == "" {
		return "Leaderboards for GPU kernels: submit, watch the run live, compare."
	}
	return s.About
}

// Viewer is the signed-in person who looks at a page.
type Viewer struct {
	Person
	Creator bool // may make tasks
	Admin   bool
	Unread  int // notices in the inbox
}

// Person is how someone is named and linked.
type Person struct {
	ID   int64
	Name string
}

// TaskRef names a task and where it is.
type TaskRef struct {
	Slug  string
	Title string
}

// timeOf is the time that a pointer holds; the zero time for nil.
func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// Deadline is when a task closes; the zero Time is a task that stays open.
type Deadline struct {
	Time time.Time
	Now  time.Time // when the page was made

	Practice bool // runs are taken after it, too
}

// Set reports whether there is a deadline.
func (d Deadline) Set() bool { return !d.Time.IsZero() }

// Takes reports whether runs can be submitted.
func (d Deadline) Takes() bool { return !d.Closed() || d.Practice }

// Closed reports whether the deadline has passed.
func (d Deadline) Closed() bool { return d.Set() && !d.Now.Before(d.Time) }

// shortVersion is a release's version, and the commit of a binary between releases.
func shortVersion(version string) string {
	version, _, _ = strings.Cut(version, " ")
	if commit, err := module.PseudoVersionRev(version); err == nil {
		return commit
	}
	return version
}
