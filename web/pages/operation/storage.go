package operation

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/views"
	"warpboard/views/format"
	"warpboard/web/site"
)

// soon is how far the page looks ahead.
const soon = 7 * 24 * time.Hour

// Storage shows what takes room, and what is let go next.
func (o *Operation) Storage(c *fiber.Ctx) error {
	ctx, admin := c.UserContext(), site.Actor(c)
	page := views.StoragePage{Page: o.site.Page(c, "Storage", "moderation")}
	total, next, err := o.site.Store.StorageToGo(ctx, admin, o.site.Now().Add(soon))
	if err != nil {
		return err
	}
	page.Facts = []views.Fact{
		{Name: "Sources and tasks, in the database", Value: many(total.Blobs, total.BlobBytes)}, {Name: "Artifacts (profiles, traces)", Value: many(total.Artifacts, total.ArtifactBytes)},
		{Name: "Evaluations", Value: fmt.Sprint(total.Evaluations)}, {Name: "Events of runs", Value: fmt.Sprint(total.Events)},
	}
	page.Facts = append(page.Facts, o.folders()...)
	page.Next = []views.Fact{
		{Name: "Artifacts", Value: many(next.Artifacts, next.ArtifactBytes)},
		{Name: "Evaluations", Value: fmt.Sprint(next.Evaluations)}, {Name: "Events of runs", Value: fmt.Sprint(next.Events)},
	}
	if page.People, err = o.site.Store.Storage.StorageByPerson(ctx, admin); err != nil {
		return err
	}
	if page.Tasks, err = o.site.Store.Storage.StorageByTask(ctx, admin); err != nil {
		return err
	}
	return o.site.Render(c, fiber.StatusOK, views.Storage(page))
}

func many(n, size int64) string {
	return fmt.Sprintf("%s in %s", format.Bytes(size), format.Plural(int(n), "piece", "pieces"))
}

// folders says what is in the data directory, and how much room is left. A worker on another machine has its own.
func (o *Operation) folders() (facts []views.Fact) {
	for _, folder := range []struct{ name, what string }{{"objects", "Cache of compiled objects, at most 8 GiB"}, {"queue", "Queue"}} {
		if size := sizeOf(filepath.Join(o.site.Store.Disk.Dir, folder.name)); size > 0 {
			facts = append(facts, views.Fact{Name: folder.what, Value: format.Bytes(size)})
		}
	}
	if free, err := o.site.Store.Disk.Free(); err == nil {
		facts = append(facts, views.Fact{Name: "Free on the disk", Value: format.Bytes(free)})
	}
	return facts
}

// sizeOf is how much the files below a folder take, as far as they can be seen.
func sizeOf(folder string) (size int64) {
	_ = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}
