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

// EventURL returns the address of an event's page.
func EventURL(slug string) templ.SafeURL { return templ.SafeURL("/events/" + url.PathEscape(slug)) }

// EventPartURL returns the address of a page or action below an event: "wall", "edit", "reveal" …
func EventPartURL(slug, part string) templ.SafeURL {
	return EventURL(slug) + templ.SafeURL("/"+part)
}

// EventBanner is the line about an event on every page.
type EventBanner struct {
	Slug         string
	Title        string
	HasBegun     bool
	NextChangeAt time.Time     // next change: its end or start
	TimeToNext   time.Duration // time until then
}

// BoardFreeze is an event during which new results of a board are hidden.
type BoardFreeze struct {
	Slug         string
	Title        string
	FrozenSince  time.Time
	ViewerBestNS float64 // viewer's best hidden result since the freeze; 0 if none, or if the board is not empty
}

// EventsPage lists events.
type EventsPage struct {
	Page
	Now    time.Time
	Events []events.EventRow
}

// eventsIn returns the events of a phase.
func (p EventsPage) eventsIn(phase string) (list []events.EventRow) {
	for _, e := range p.Events {
		if eventPhaseName(e.Event, p.Now) == phase {
			list = append(list, e)
		}
	}
	return list
}

const (
	upcomingEventsLabel = "Upcoming"
	currentEventsLabel  = "Now"
	pastEventsLabel     = "Past"
)

func eventPhaseName(e events.Event, now time.Time) string {
	switch {
	case !e.HasBegun(now):
		return upcomingEventsLabel
	case !e.HasEnded(now):
		return currentEventsLabel
	}
	return pastEventsLabel
}

// EventPage is an event with its standings.
type EventPage struct {
	Page
	Event            events.EventRow
	Now              time.Time // the server's clock, used for all comparisons
	Description      templ.Component
	Tasks            []EventTask
	Standings        events.Standings
	Device           string    // device of the standings; empty: all devices
	StandingsAt      time.Time // time of the standings; zero: now
	Devices          []string  // devices that the viewer can choose
	MayEdit          bool
	UnrevealedCounts UnrevealedCounts
}

// EventTask is a task of an event.
type EventTask struct {
	TaskRef
	Devices []string
}

// entryCount counts the results of a task in the standings.
func (p EventPage) entryCount(slug string) (n int) {
	for _, b := range p.Standings.Boards {
		if b.Slug == slug {
			n += b.EntrantCount
		}
	}
	return n
}

// UnrevealedCounts counts the results of a frozen event that have not been revealed.
type UnrevealedCounts struct {
	Entrants    int
	Submissions int
	RunningRuns int // running runs
}

const (
	maxShownRows     = 50
	maxEventWallRows = 12
)

// standingRows returns at most the given number of rows from the top of the standings.
func (p EventPage) standingRows(most int) []events.StandingsRow {
	return p.Standings.Rows[:min(most, len(p.Standings.Rows))]
}

// shownRows returns the rows on the page: the first ones, and those of the viewer.
func (p EventPage) shownRows() []events.StandingsRow {
	first := p.standingRows(maxShownRows)
	for _, row := range p.Standings.Rows[len(first):] {
		if row.UserID != 0 && row.UserID == p.viewerID() {
			return append(slices.Clone(first), row)
		}
	}
	return first
}

// nextChange returns what changes next in the event, and the time until then.
func (p EventPage) nextChange() (what string, in time.Duration) {
	switch eventPhaseName(p.Event.Event, p.Now) {
	case upcomingEventsLabel:
		return "Starts in", p.Event.StartsAt.Sub(p.Now)
	case currentEventsLabel:
		return "Ends in", p.Event.EndsAt.Sub(p.Now)
	}
	return "", 0
}

// countdown formats the remaining time, with seconds on the last day; a script updates it.
func countdown(d time.Duration) string {
	if d >= 24*time.Hour {
		return format.Duration(d)
	}
	s := int(d.Seconds())
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// isOpen reports whether the event accepts submissions now.
func (p EventPage) isOpen() bool { return eventPhaseName(p.Event.Event, p.Now) == currentEventsLabel }

func (p EventPage) isFrozen() bool { return p.Event.IsFrozen(p.Now) }

// partURL returns the address of a part of the event's page, for the selected device.
func (p EventPage) partURL(part, device string) string {
	return p.partURLAt(part, device, p.StandingsAt)
}

func (p EventPage) partURLAt(part, device string, at time.Time) string {
	q := url.Values{}
	if device != "" {
		q.Set("device", device)
	}
	if !at.IsZero() {
		q.Set("at", format.MachineTime(at))
	}
	to := string(EventURL(p.Event.Slug)) + part
	if len(q) > 0 {
		to += "?" + q.Encode()
	}
	return to
}

// replayStepCount is the number of equal parts of the duration of an event, after each of which its standings can be
// shown.
const replayStepCount = 12

// replayTimes returns the past times at which the standings can be shown.
func (p EventPage) replayTimes() (list []time.Time) {
	part := p.Event.EndsAt.Sub(p.Event.StartsAt) / replayStepCount
	for i := 1; i <= replayStepCount; i++ {
		if at := p.Event.StartsAt.Add(time.Duration(i) * part); at.Before(p.Now) {
			list = append(list, p.Event.RoundToMinute(at, p.Now))
		}
	}
	return list
}

func pointsText(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// pointsRuleSentence describes how ranks give points.
func pointsRuleSentence(text string) string {
	if text == events.ScoreRatioRule {
		return "100 × best score ÷ own score on each board"
	}
	return "by place on each board: " + text
}

func (p EventPage) entrantsWord() string {
	if p.Event.EntrantsAreTeams {
		return format.Plural(len(p.Standings.Rows), "team or person", "teams and people")
	}
	return format.Plural(len(p.Standings.Rows), "person", "people")
}

// EventForm has the organizer's settings of an event.
type EventForm struct {
	Page
	Slug          string // empty for a new event
	Heading       string
	RefusalReason string
	Settings      events.EventSettings
	TaskChoices   []EventTaskChoice
}

// EventTaskChoice is a task that the organizer may edit.
type EventTaskChoice struct {
	TaskRef
	OtherEventTitle string // another unfinished event that has the task; empty if none
}

func (f EventForm) formURL() templ.SafeURL {
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

// taskPosition returns the position of a chosen task in the event, from 1; 0 if it is not chosen.
func (f EventForm) taskPosition(slug string) int { return slices.Index(f.Settings.Tasks, slug) + 1 }

// taskChoices returns the tasks to choose from, chosen ones first in their order.
func (f EventForm) taskChoices() []EventTaskChoice {
	list := slices.Clone(f.TaskChoices)
	slices.SortStableFunc(list, func(a, b EventTaskChoice) int {
		at := func(c EventTaskChoice) uint { return uint(f.taskPosition(c.Slug) - 1) } // others become the maximum: last
		return cmp.Compare(at(a), at(b))
	})
	return list
}

func inputTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return format.FormTime(t)
}
