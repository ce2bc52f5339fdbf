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

// deletionPreviewSpan is the time span for which the page shows upcoming deletions.
const deletionPreviewSpan = 7 * 24 * time.Hour

// Storage shows the used storage, and the data that will be deleted soon.
func (p *Operation) Storage(c *fiber.Ctx) error {
	ctx, admin := c.UserContext(), site.Actor(c)
	page := views.StoragePage{Page: p.site.Page(c, "Storage", "moderation")}
	total, next, err := p.site.Store.StorageToDelete(ctx, admin, p.site.Now().Add(deletionPreviewSpan))
	if err != nil {
		return err
	}
	page.Facts = []views.NamedValue{
		{Name: "Sources and tasks, in the database", Value: countAndSize(total.BlobCount, total.BlobBytes)}, {Name: "Artifacts (profiles, traces)", Value: countAndSize(total.ArtifactCount, total.ArtifactBytes)},
		{Name: "Evaluations", Value: fmt.Sprint(total.EvaluationCount)}, {Name: "Events of runs", Value: fmt.Sprint(total.EventCount)},
	}
	page.Facts = append(page.Facts, p.describeFolders()...)
	page.Next = []views.NamedValue{
		{Name: "Artifacts", Value: countAndSize(next.ArtifactCount, next.ArtifactBytes)},
		{Name: "Evaluations", Value: fmt.Sprint(next.EvaluationCount)}, {Name: "Events of runs", Value: fmt.Sprint(next.EventCount)},
	}
	if page.People, err = p.site.Store.Quotas.StorageByPerson(ctx, admin); err != nil {
		return err
	}
	if page.Tasks, err = p.site.Store.Quotas.StorageByTask(ctx, admin); err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.Storage(page))
}

func countAndSize(n, size int64) string {
	return fmt.Sprintf("%s in %s", format.Bytes(size), format.Plural(int(n), "piece", "pieces"))
}

// describeFolders describes the contents of the data directory, and the free disk space. Remote workers are not
// included.
func (p *Operation) describeFolders() (facts []views.NamedValue) {
	for _, folder := range []struct{ name, what string }{{"objects", "Cache of compiled objects, at most 8 GiB"}, {"queue", "Queue"}} {
		if size := folderSize(filepath.Join(p.site.Store.Disk.Dir, folder.name)); size > 0 {
			facts = append(facts, views.NamedValue{Name: folder.what, Value: format.Bytes(size)})
		}
	}
	if free, err := p.site.Store.Disk.FreeBytes(); err == nil {
		facts = append(facts, views.NamedValue{Name: "Free on the disk", Value: format.Bytes(free)})
	}
	return facts
}

// folderSize returns the total size of the readable files in a folder, in bytes.
func folderSize(folder string) (size int64) {
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
