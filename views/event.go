package views

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"warpboard/models/events"
	"warpboard/views/format"
)

// EventURL is the page of an event.
func EventURL(slug string) templ.SafeURL { return templ.SafeURL("/events/" + url.PathEscape(slug)) }

// EventPartURL is a page or action below an event: "wall", "edit", "reveal" …
func EventPartURL(slug, part string) templ.SafeURL {
	return EventURL(slug) + templ.SafeURL("/"+part)
}

// EventBanner names an event on every page.
type EventBanner struct {
	Slug  string
	Title string
	Begun bool
	Next  time.Time     // its end, or its start
	In    time.Duration // until then
}

// BoardFreeze is the event for which a board is frozen.
type BoardFreeze struct {
	Slug  string
	Title string
	Since time.Time
	OwnNS float64 // on an empty board, the viewer's best result since then, which others do not see; 0: none
}

// EventsPage lists events.
type EventsPage struct {
	Page
	Now    time.Time
	Events []events.Listed
}

// of chooses the events of a phase.
func (p EventsPage) of(phase string) (list []events.Listed) {
	for _, e := range p.Events {
		if phaseOf(e.Event, p.Now) == phase {
			list = append(list, e)
		}
	}
	return list
}

const (
	comes = "Upcoming"
	goes  = "Now"
	over  = "Past"
)

func phaseOf(e events.Event, now time.Time) string {
	switch {
	case !e.Begun(now):
		return comes
	case !e.Ended(now):
		return goes
	}
	return over
}

// EventPage is an event with its standings.
type EventPage struct {
	Page
	Event     events.Listed
	Now       time.Time // of the server, by which all times are compared
	About     templ.Component
	Tasks     []EventTask
	Standings events.Standings
	Device    string   // of the standings; empty: all
	Devices   []string // to choose from
	MayEdit   bool
	Waiting   EventWaiting
}

// EventTask is a task of an event.
type EventTask struct {
	TaskRef
	Devices []string
}

// entries counts the results of a task in the standings.
func (p EventPage) entries(slug string) (n int) {
	for _, b := range p.Standings.Boards {
		if b.Slug == slug {
			n += b.Entries
		}
	}
	return n
}

// EventWaiting counts what a frozen event has not revealed.
type EventWaiting struct {
	Entrants    int
	Submissions int
	Live        int // runs that go on
}

const (
	shownRows = 50
	wallRows  = 12
)

// rows are the first of the standings.
func (p EventPage) rows(most int) []events.Row {
	return p.Standings.Rows[:min(most, len(p.Standings.Rows))]
}

// shown are the rows on the page: the first, and the viewer's own.
func (p EventPage) shown() []events.Row {
	first := p.rows(shownRows)
	for _, row := range p.Standings.Rows[len(first):] {
		if row.UserID != 0 && row.UserID == p.viewerID() {
			return append(slices.Clone(first), row)
		}
	}
	return first
}

// next is what comes next, and in how long.
func (p EventPage) next() (what string, in time.Duration) {
	switch phaseOf(p.Event.Event, p.Now) {
	case comes:
		return "Starts in", p.Event.StartsAt.Sub(p.Now)
	case goes:
		return "Ends in", p.Event.EndsAt.Sub(p.Now)
	}
	return "", 0
}

// countdown shows what is left, on the last day to the second; a script counts on.
func countdown(d time.Duration) string {
	if d >= 24*time.Hour {
		return format.Duration(d)
	}
	s := int(d.Seconds())
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// goesOn reports whether the event takes submissions now.
func (p EventPage) goesOn() bool { return phaseOf(p.Event.Event, p.Now) == goes }

func (p EventPage) frozen() bool { return p.Event.Frozen(p.Now) }

// address is a part of the event's page, for the chosen device.
func (p EventPage) address(part, device string) string {
	to := string(EventURL(p.Event.Slug)) + part
	if device != "" {
		to += "?device=" + url.QueryEscape(device)
	}
	return to
}

func pointsText(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// pointsRule says how places become points.
func pointsRule(text string) string {
	if text == events.Ratio {
		return "100 × best score ÷ own score on each board"
	}
	return "by place on each board: " + text
}

func (p EventPage) entrants() string {
	if p.Event.ByTeam {
		return format.Plural(len(p.Standings.Rows), "team or person", "teams and people")
	}
	return format.Plural(len(p.Standings.Rows), "person", "people")
}

// EventForm is what an organizer says of an event.
type EventForm struct {
	Page
	Slug    string // empty: a new one
	Heading string
	Problem string
	In      events.Settings
	Choices []EventChoice
}

// EventChoice is a task that the organizer may edit.
type EventChoice struct {
	TaskRef
	Other string // the event that has the task until its end; empty: none has
}

func (f EventForm) action() templ.SafeURL {
	if f.Slug == "" {
		return "/events/new"
	}
	return EventPartURL(f.Slug, "edit")
}

func (f EventForm) crumbs() []crumb {
	up := []crumb{{"Events", "/events"}}
	if f.Slug != "" {
		up = append(up, crumb{f.Slug, EventURL(f.Slug)})
	}
	return up
}

// position returns the place of a chosen task in the event, from 1 on; 0 for the others.
func (f EventForm) position(slug string) int { return slices.Index(f.In.Tasks, slug) + 1 }

// choices returns the tasks to choose from, the chosen ones first in their order.
func (f EventForm) choices() []EventChoice {
	list := slices.Clone(f.Choices)
	slices.SortStableFunc(list, func(a, b EventChoice) int {
		at := func(c EventChoice) uint { return uint(f.position(c.Slug) - 1) } // not chosen: last
		return cmp.Compare(at(a), at(b))
	})
	return list
}

func inputTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return format.Input(t)
}
