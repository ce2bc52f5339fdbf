package views

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"warpboard/models"
	"warpboard/models/comments"
	"warpboard/models/review"
	"warpboard/views/format"
)

// ReviewPage lists runs that wait for a review.
type ReviewPage struct {
	Page
	Filter           models.ReviewFilter
	PreselectedGroup string               // group whose runs are all ticked
	Counts           []models.ReviewCount // counts of the whole queue
	Rows             []models.FlaggedRun
	NextFlagID       int64 // the next page begins after this flag; 0 on the last page

	Comments []comments.ReportedComment // comments with open reports
}

// ReviewURL returns the address of the review page with a filter; more has additional keys and values.
func ReviewURL(f models.ReviewFilter, more ...string) string {
	q := url.Values{}
	for name, value := range map[string]string{"task": f.Task, "kind": string(f.Kind), "priority": ReviewPriorityName(f.Priority)} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.AfterFlagID > 0 {
		q.Set("after", strconv.FormatInt(f.AfterFlagID, 10))
	}
	for i := 0; i+1 < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	if len(q) == 0 {
		return "/review"
	}
	return "/review?" + q.Encode()
}

// ReviewPriorityName returns the name of a priority in the address of the review page; "" for the default.
func ReviewPriorityName(p models.ReviewPriority) string {
	switch p {
	case models.LowReviewPriority:
		return "low"
	case models.AnyReviewPriority:
		return "all"
	}
	return ""
}

// ReviewPriorityByName returns the priority for a result of ReviewPriorityName.
func ReviewPriorityByName(name string) models.ReviewPriority {
	switch name {
	case "low":
		return models.LowReviewPriority
	case "all":
		return models.AnyReviewPriority
	}
	return models.HighReviewPriority
}

func (p ReviewPage) nextURL() templ.SafeURL {
	p.Filter.AfterFlagID = p.NextFlagID
	return templ.SafeURL(ReviewURL(p.Filter))
}

// selectGroupURL returns the address of the same page with all runs of a group selected, or none if kind is "".
func (p ReviewPage) selectGroupURL(g reviewGroup, kind string) templ.SafeURL {
	return templ.SafeURL(ReviewURL(p.Filter, "tick", kind) + "#" + g.groupID() + "-title")
}

func (p ReviewPage) lowPriorityURL() templ.SafeURL {
	return templ.SafeURL(ReviewURL(models.ReviewFilter{Priority: models.LowReviewPriority}))
}

// lowPriorityCount counts the runs with low priority.
func (p ReviewPage) lowPriorityCount() (n int) {
	for _, c := range p.Counts {
		if c.IsLowPriority {
			n += c.RunCount
		}
	}
	return n
}

// reviewKind is one reason for a review, with its texts. reviewKinds lists them, the most urgent first.
type reviewKind struct {
	kind        review.FlagKind
	title       string
	description string
}

func reviewKinds() []reviewKind {
	return []reviewKind{
		{review.KindReport, "Reported", "Someone requested a review."},
		{review.KindHeld, "Held back", "These runs do not count until they are reviewed."},
		{review.KindUnconfirmed, "Not confirmed", "A confirmation of a 1st place gave no times. These runs do not count until they are reviewed."},
		{review.KindSource, "Pattern in the source", "The source has a pattern that is known from falsified times."},
		{review.KindContradicted, "Faster than its profile", "A case took less time than its kernels take under Nsight Compute, which runs them one at a time. Kernels that run beside each other can do that, too."},
		{review.KindLibrary, "Library kernels", "The task refuses libraries, and the profile lists their kernels. An honest source can have one, as to fill a tensor."},
		{review.KindClocks, "Clocks disagree", "The runner's clock and the judge's clock differ by more than the judge's tolerance. The larger time counts."},
	}
}

func (p ReviewPage) kindOptions() []option {
	options := []option{{"", "All reasons"}}
	for _, k := range reviewKinds() {
		n := 0
		for _, c := range p.Counts {
			if c.Kind == k.kind {
				n += c.RunCount
			}
		}
		if n > 0 || p.Filter.Kind == k.kind {
			options = append(options, option{string(k.kind), fmt.Sprintf("%s (%d)", k.title, n)})
		}
	}
	return options
}

func (p ReviewPage) taskOptions() []option {
	options := []option{{"", "All tasks"}}
	for _, c := range p.Counts {
		if !slices.ContainsFunc(options, func(o option) bool { return o.value == c.TaskSlug }) {
			options = append(options, option{c.TaskSlug, c.TaskTitle})
		}
	}
	if p.Filter.Task != "" && !slices.ContainsFunc(options, func(o option) bool { return o.value == p.Filter.Task }) {
		options = append(options, option{p.Filter.Task, p.Filter.Task})
	}
	return options
}

func (p ReviewPage) priorityOptions() []option {
	return []option{{"", "Needs a look"}, {"low", fmt.Sprintf("Low priority (%d)", p.lowPriorityCount())},
		{"all", "All"}}
}

// reviewGroup has the runs of a page whose most urgent flag has the same reason.
type reviewGroup struct {
	reviewKind
	commonReason string // text of all their flags; empty if they differ
	flaggedRuns  []models.FlaggedRun
}

func (g reviewGroup) groupID() string { return "reason-" + string(g.kind) }

func (g reviewGroup) heading() string {
	return g.title + ": " + format.Plural(len(g.flaggedRuns), "run", "runs")
}

// hasCommonReason reports whether the site flagged all runs with the same text, so that one decision probably fits all.
func (g reviewGroup) hasCommonReason() bool { return g.commonReason != "" && len(g.flaggedRuns) > 1 }

// groups returns the runs of the page by reason, most urgent first.
func (p ReviewPage) groups() (list []reviewGroup) {
	left := slices.Clone(p.Rows)
	for _, k := range reviewKinds() {
		g := reviewGroup{reviewKind: k}
		left = slices.DeleteFunc(left, func(row models.FlaggedRun) bool {
			has := slices.ContainsFunc(row.Flags, func(f models.FlagWithReporter) bool { return f.Kind == k.kind })
			if has {
				g.flaggedRuns = append(g.flaggedRuns, row)
			}
			return has
		})
		if len(g.flaggedRuns) == 0 {
			continue
		}
		g.commonReason = siteFlagReason(g.flaggedRuns[0])
		if slices.ContainsFunc(g.flaggedRuns, func(row models.FlaggedRun) bool { return siteFlagReason(row) != g.commonReason }) {
			g.commonReason = ""
		}
		list = append(list, g)
	}
	return list
}

// siteFlagReason returns the reason that the site gave for flagging a run; "" if a person also reported it.
func siteFlagReason(row models.FlaggedRun) string {
	var why []string
	for _, flag := range row.Flags {
		if flag.ReporterID != 0 {
			return ""
		}
		why = append(why, flagText(flag))
	}
	return strings.Join(why, " ")
}

// flagText describes a flag in words.
func flagText(f models.FlagWithReporter) string {
	switch f.Kind {
	case review.KindClocks:
		return "The runner's clock and the judge's clock differ by more than the judge's tolerance."
	case review.KindUnconfirmed:
		return "The confirmation of its 1st place gave no times: " + f.Detail
	case review.KindContradicted:
		return "Its profile contradicts its times: " + f.Detail + "."
	case review.KindLibrary:
		return "Kernels of libraries in the profile, by share of the GPU's time: " + f.Detail + "."
	case review.KindSource:
		return "The source has a pattern that is known from falsified times: " + f.Detail + "."
	}
	return f.Detail
}
