package pages

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/views"
	"warpboard/web/site"
)

// mostTags bounds the filter of a list, for sites with different tags on every task.
const mostTags = 60

// Collection lists the tasks with a tag, from easy to hard.
func (p *Pages) Collection(c *fiber.Ctx) error {
	search := views.TaskSearch{Tag: c.Params("tag"), Sort: "easy", PageNo: site.PageNumber(c, "page")}
	list, err := p.listTasks(c.UserContext(), site.Actor(c), search)
	if err != nil {
		return err
	}
	if list.Found == 0 {
		return site.NotFound(c)
	}
	return p.site.Render(c, fiber.StatusOK, views.Collection(views.CollectionPage{Page: p.site.Page(c, "Tasks: "+search.Tag, "tasks"), Tag: search.Tag, List: list}))
}

// tagsOf counts the tags of tasks: the most used ones, by name.
func tagsOf(list []models.TaskSummary) []views.TagCount {
	count := map[string]int{}
	for _, t := range list {
		for _, tag := range t.Tags {
			count[tag]++
		}
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	names = names[:min(len(names), mostTags)]
	slices.Sort(names)
	tags := make([]views.TagCount, len(names))
	for i, name := range names {
		tags[i] = views.TagCount{Name: name, Tasks: count[name]}
	}
	return tags
}
