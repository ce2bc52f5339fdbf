package operation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	client "warpboard/clients/go"
	"warpboard/internal/gpuname"
	"warpboard/migrations"
	"warpboard/models/fleet"
	"warpboard/views"
	"warpboard/views/format"
	"warpboard/web/site"
)

const (
	maxQueueWait = 30 * time.Minute   // as the alert in deploy/alerts.yaml
	maxBackupAge = 7 * 24 * time.Hour // for an older backup, the page asks for a new one
)

// Health shows a table of conditions that may need an operator, with remedies.
func (p *Operation) Health(c *fiber.Ctx) error {
	if !site.Actor(c).IsAdmin() {
		return site.Forbidden("admin", "This page is for admins.")
	}
	page := views.HealthPage{Page: p.site.Page(c, "Health", "moderation")}
	workers, err := p.site.Store.Fleet.Workers(c.UserContext())
	if err != nil {
		return err
	}
	for _, check := range []func(*fiber.Ctx, []fleet.Worker) (views.HealthRow, error){
		p.checkOldestWaiting, p.checkQueue, p.checkWorkers, p.checkSlots, p.checkSelfTests, p.checkSanitizers, p.checkDrifting, p.checkDisk, p.checkBackup, p.checkReviews, p.checkSwitches,
	} {
		row, err := check(c, workers)
		if err != nil {
			return err
		}
		page.Rows = append(page.Rows, row)
	}
	// Rows that need an operator come first.
	slices.SortStableFunc(page.Rows, func(a, b views.HealthRow) int { return cmp.Compare(b.State, a.State) })
	c.Set(fiber.HeaderCacheControl, "no-store")
	return p.site.Render(c, fiber.StatusOK, views.Health(page))
}

// checkOldestWaiting checks the age of the oldest waiting work, and whether a slot can run it.
func (p *Operation) checkOldestWaiting(c *fiber.Ctx, workers []fleet.Worker) (row views.HealthRow, err error) {
	devices, err := p.runs.CapacityAmong(c.UserContext(), workers)
	row = views.HealthRow{Name: "Queue", Says: "Nothing waits.", Link: "/devices", LinkText: "Queue"}
	var oldest client.Capacity
	var unserved []string
	for _, d := range devices {
		if d.Waiting > 0 && d.OldestWaitSeconds >= oldest.OldestWaitSeconds {
			oldest = d
		}
		if d.WantedSlots > d.Busy && d.Slots == 0 { // WantedSlots is 0 for a paused device
			unserved = append(unserved, d.Device)
		}
	}
	if oldest.Waiting == 0 {
		return row, err
	}
	wait := time.Duration(oldest.OldestWaitSeconds * float64(time.Second))
	row.Says = fmt.Sprintf("The oldest work has waited %s, for %s.", format.Duration(wait), oldest.Device)
	if len(unserved) > 0 {
		row.State, row.Says = views.HealthBad, row.Says+" No slot takes work for "+strings.Join(unserved, ", ")+"."
		row.Do = "Start a worker with this device, or cancel the work."
	} else if wait > maxQueueWait {
		row.State, row.Do = views.HealthLook, "Add slots for this device, or resume it if it is paused."
	}
	return row, err
}

// checkQueue checks that the message queue can carry jobs.
func (p *Operation) checkQueue(c *fiber.Ctx, _ []fleet.Worker) (views.HealthRow, error) {
	row := views.HealthRow{
		Name:     "Messages to workers",
		Says:     "Messages are being delivered.",
		Link:     "/docs/metrics",
		LinkText: "Health checks",
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), site.ProbeTimeout)
	defer cancel()
	if err := p.queueHealth(ctx); err != nil {
		row.State, row.Says, row.Do = views.HealthBad, "The queue takes no jobs.", "Read the site's log, and check NATS if it runs apart from the site."
	}
	return row, nil
}

// checkWorkers checks for workers that disconnected without stopping.
func (p *Operation) checkWorkers(_ *fiber.Ctx, workers []fleet.Worker) (views.HealthRow, error) {
	row := views.HealthRow{Name: "Workers", Link: "/docs/workers", LinkText: "Workers"}
	var lost, late []string
	live := 0
	for _, w := range workers {
		card := views.WorkerCard{Worker: w, Online: w.IsLive(p.site.Now())}
		switch {
		case card.Online:
			live++
			if card.Clock() != "" {
				late = append(late, w.Name)
			}
		case !w.HasExited:
			lost = append(lost, w.Name)
		}
	}
	row.Says = fmt.Sprintf("%s connected.", format.Plural(live, "worker is", "workers are"))
	switch {
	case live == 0:
		row.State, row.Says, row.Do = views.HealthBad, "No worker is connected.", "Start a worker. Until then all runs wait."
	case len(lost) > 0:
		row.State, row.Says = views.HealthLook, row.Says+" No heartbeat from: "+strings.Join(lost, ", ")+"."
		row.Do = "Start them again, or forget them on the queue page."
	case len(late) > 0:
		row.State, row.Says = views.HealthLook, row.Says+" The clock is wrong on "+strings.Join(late, ", ")+"."
		row.Do = "Synchronize these machines with a time server (timedatectl set-ntp true)."
	}
	return row, nil
}

// checkSlots checks for slots of connected workers that are out of service.
func (p *Operation) checkSlots(_ *fiber.Ctx, workers []fleet.Worker) (views.HealthRow, error) {
	row := views.HealthRow{Name: "Slots", Link: "/devices", LinkText: "Queue"}
	var out []string
	usable := 0
	for _, w := range workers {
		for _, slot := range w.Slots {
			switch why := w.SlotProblem(slot); {
			case !w.IsLive(p.site.Now()):
			case why != "":
				out = append(out, fmt.Sprintf("%s on %s: %s", slot.Device, w.Name, format.ErrorSentence(why)))
			default:
				usable++
			}
		}
	}
	row.Says = fmt.Sprintf("%s jobs.", format.Plural(usable, "slot takes", "slots take"))
	if len(out) > 0 {
		row.State, row.Says = views.HealthBad, row.Says+" Out of service: "+firstAndCount(out)
		row.Do, row.Link, row.LinkText = "Fix the cause and restart the worker.", "/docs/workers", "Slots out of service"
	}
	return row, nil
}

// checkSelfTests checks for failed self-tests of connected workers.
func (p *Operation) checkSelfTests(_ *fiber.Ctx, workers []fleet.Worker) (views.HealthRow, error) {
	row := views.HealthRow{Name: "Self-tests", Link: "/trust#sandbox", LinkText: "Results"}
	var failed []string
	tested := 0
	for _, w := range workers {
		if !w.IsLive(p.site.Now()) {
			continue
		}
		for _, line := range w.SelfTestResults {
			if tested++; !line.Passed {
				failed = append(failed, fmt.Sprintf("%s on %s: %s", line.Name, w.Name,
					format.ErrorSentence(line.Detail)))
			}
		}
	}
	row.Says = fmt.Sprintf("%s passed.", format.Plural(tested-len(failed), "test", "tests"))
	switch {
	case tested == 0:
		row.State, row.Says, row.Do = views.HealthUnknown, "No connected worker has reported a self-test.", "Restart the workers: they test themselves when they start."
	case len(failed) > 0:
		row.State, row.Says, row.Do = views.HealthBad, row.Says+" Failed: "+firstAndCount(failed), "Fix the cause and restart the worker."
	}
	return row, nil
}

// checkDrifting checks for slots of connected workers whose benchmarks differ from earlier ones.
func (p *Operation) checkDrifting(c *fiber.Ctx, workers []fleet.Worker) (views.HealthRow, error) {
	row := views.HealthRow{
		Name:     "Speed of slots",
		Says:     "No slot differs from its usual speed.",
		Link:     "/devices",
		LinkText: "Queue",
	}
	list, err := p.site.Store.Fleet.DriftingSlots(c.UserContext())
	list = slices.DeleteFunc(list, func(d fleet.DriftingSlot) bool {
		return !slices.ContainsFunc(workers, func(w fleet.Worker) bool { return w.Name == d.Worker && w.IsLive(p.site.Now()) })
	})
	if len(list) > 0 {
		var texts []string
		for _, d := range list {
			texts = append(texts, fmt.Sprintf("%s on %s: %s", d.Device, d.Worker, d.Description))
		}
		row.State, row.Says, row.Do = views.HealthLook, firstAndCount(texts), "Check for heat, a power limit, or another program on the machine."
		row.Link, row.LinkText = "/devices/"+list[0].Device+"/sentinel", "Its history"
	}
	return row, err
}

// checkDisk checks the free disk space of the data directory.
func (p *Operation) checkDisk(*fiber.Ctx, []fleet.Worker) (views.HealthRow, error) {
	row := views.HealthRow{Name: "Disk", Link: "/operate/storage", LinkText: "Storage"}
	disk := p.site.Store.Disk
	free, err := disk.FreeBytes()
	if err != nil {
		row.State, row.Says, row.Do = views.HealthUnknown, "The free space of the data directory could not be read.", "Check that the data directory exists and is mounted."
		return row, nil
	}
	row.Says = fmt.Sprintf("%s are free. Submissions are refused below %s.", format.Bytes(free), format.Bytes(disk.MinFreeBytes))
	switch {
	case disk.MinFreeBytes == 0:
		row.State, row.Says, row.Do = views.HealthUnknown, format.Bytes(free)+" are free, and no minimum is set.", "Set --min-free-disk so that a full disk cannot kill accepted runs."
	case free < disk.MinFreeBytes:
		row.State, row.Do = views.HealthBad, "Free space now: the site refuses submissions."
	case free < 2*disk.MinFreeBytes:
		row.State, row.Do = views.HealthLook, "Free space soon, or add some."
	}
	return row, nil
}

// checkReviews checks for runs that wait for a review.
func (p *Operation) checkReviews(c *fiber.Ctx, _ []fleet.Worker) (views.HealthRow, error) {
	row := views.HealthRow{Name: "Runs to review", Says: "None.", Link: "/review", LinkText: "Runs to review"}
	counts, err := p.site.Store.ReviewCounts(c.UserContext(), site.Actor(c))
	now, low := 0, 0
	for _, count := range counts {
		if count.IsLowPriority {
			low += count.RunCount
		} else {
			now += count.RunCount
		}
	}
	if low > 0 {
		row.Says = format.Plural(low, "run", "runs") + " of low priority."
	}
	if now > 0 {
		row.State, row.Do = views.HealthLook, "Review the runs."
		row.Says = fmt.Sprintf("%s to review, and %d of low priority.", format.Plural(now, "flag", "flags"), low)
	}
	return row, err
}

// checkSwitches checks for parts of the site that an admin has switched off.
func (p *Operation) checkSwitches(c *fiber.Ctx, _ []fleet.Worker) (views.HealthRow, error) {
	row := views.HealthRow{
		Name:     "Switches",
		Says:     "Nothing is switched off.",
		Link:     "/operate#switches",
		LinkText: "Switches",
	}
	off, err := p.site.Store.Switches.OffParts(c.UserContext())
	if len(off) > 0 {
		row.State, row.Do = views.HealthLook, "Turn it back on when you are done."
		row.Says = fmt.Sprintf("%s switched off, since %s.", format.Plural(len(off), "part is", "parts are"), format.DateMinute(off[0].Since))
	}
	return row, err
}

// firstAndCount returns the first of several sentences, followed by the number of the others.
func firstAndCount(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return fmt.Sprintf("%s And %d more.", list[0], len(list)-1)
}

// lastBackupFile is the name of a file in the data directory. The backup commands on the page touch it, so its
// modification time is the time of the last backup.
const lastBackupFile = "last-backup"

// checkBackup checks the age of the last backup, and shows the commands for making one.
func (p *Operation) checkBackup(*fiber.Ctx, []fleet.Worker) (views.HealthRow, error) {
	row := views.HealthRow{Name: "Backup", Link: "/docs/backup", LinkText: "Backup and restore"}
	dir, err := filepath.Abs(p.site.Store.Disk.Dir)
	if err != nil {
		return row, fmt.Errorf("finding the data directory: %w", err)
	}
	path := filepath.Join(dir, lastBackupFile)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		row.State, row.Says, row.Do = views.HealthUnknown, "No backup has been recorded.", "Make a backup on the site's machine:"
	case err != nil:
		row.State, row.Says, row.Do = views.HealthUnknown, "The record of the last backup could not be read.", "Check the rights of "+path+"."
		return row, nil
	default:
		row.Says, row.At = "The last one was recorded", info.ModTime()
		if p.site.Now().Sub(info.ModTime()) <= maxBackupAge {
			return row, nil
		}
		row.State, row.Do = views.HealthLook, "Make a new one on the site's machine:"
	}
	row.Commands = p.backupCommands(dir)
	row.Then = "The site can serve while they run. The last one records the backup: this page shows the time of that file. Copy the folder to another machine, with the settings and, if they are elsewhere, the artifacts and the signing key."
	return row, nil
}

// backupCommands returns shell commands that make a backup. They copy the database before the files, because the site
// deletes files that the database does not reference.
func (p *Operation) backupCommands(dir string) []string {
	list := []string{"mkdir -p -m 700 backup &&"}
	if p.site.Store.Dialect() == migrations.Postgres {
		list = append(list, `pg_dump -Fc "$WARPBOARD_DATABASE_URL" > backup/database.dump &&`)
	} else {
		list = append(list, "sqlite3 "+shellQuote(filepath.Join(dir,
			"warpboard.db"))+` ".backup backup/warpboard.db" &&`)
	}
	// unless settings place them outside the data directory
	for _, name := range []string{"artifacts", "signing.key"} {
		if path := filepath.Join(dir, name); fileExists(path) {
			list = append(list, "cp -a "+shellQuote(path)+" backup/ &&")
		}
	}
	return append(list, "touch "+shellQuote(filepath.Join(dir, lastBackupFile)))
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// shellQuote quotes a path for a shell.
func shellQuote(path string) string {
	if !strings.ContainsAny(path, " \t\n\"'$`\\&;|<>()*?[]#~!{}") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// checkSanitizers lists the GPUs of connected workers that support mode sanitize. A site may have none.
func (p *Operation) checkSanitizers(_ *fiber.Ctx, workers []fleet.Worker) (views.HealthRow, error) {
	row := views.HealthRow{Name: "compute-sanitizer", State: views.HealthNone, Says: "No GPU is connected.", Link: "/docs/sanitize", LinkText: "Mode sanitize"}
	has := map[string]bool{}
	for _, w := range workers {
		for _, slot := range w.Slots {
			if w.IsLive(p.site.Now()) && slot.Device != gpuname.CPU {
				has[slot.Device] = has[slot.Device] || slot.CanSanitize
			}
		}
	}
	var with, without []string
	for _, device := range slices.Sorted(maps.Keys(has)) {
		if has[device] {
			with = append(with, device)
		} else {
			without = append(without, device)
		}
	}
	var texts []string
	if len(with) > 0 {
		texts = append(texts, "Workers of "+strings.Join(with, ", ")+" have it.")
	}
	if len(without) > 0 {
		texts = append(texts, "No worker of "+strings.Join(without, ", ")+" has it: mode sanitize is not offered there.")
	}
	if len(texts) > 0 {
		row.State, row.Says = views.HealthGood, strings.Join(texts, " ")
	}
	return row, nil
}
