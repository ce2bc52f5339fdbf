package authoring

import (
	"strconv"

	"warpboard/models/catalog"
	"warpboard/views"
	"warpboard/web/site"
)

// readLimits reads the limits for each person from the fields of a form; empty and 0 are no limit.
func readLimits(field func(name string) string) (limits []catalog.Limit, err error) {
	number := func(l catalog.Limit, what string) int {
		text := field(views.LimitField(l, what))
		n, wrong := strconv.Atoi(text)
		if text != "" && wrong != nil && err == nil {
			err = site.Invalid("limits", "The limit %q is not a whole number.", text)
		}
		return n
	}
	for _, mode := range catalog.LimitModes() {
		for _, per := range catalog.Spans() {
			l := catalog.Limit{Mode: mode, Per: per}
			l.Submissions, l.GPUSeconds = number(l, views.LimitSubmissions), number(l, views.LimitSeconds)
			if l.Submissions != 0 || l.GPUSeconds != 0 {
				limits = append(limits, l)
			}
		}
	}
	return limits, err
}
