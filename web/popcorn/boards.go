package popcorn

import (
	"context"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/internal/gpuname"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/web/site"
)

const (
	maxBoardEntries = 100     // limit of a board's entries in one answer
	maxOffset       = 1 << 20 // larger than the number of entries of any board
)

// Leaderboards lists the tasks that the sender may see.
func (p *Popcorn) Leaderboards(c *fiber.Ctx) error {
	list, err := p.site.Store.TaskList(c.UserContext(), site.Actor(c))
	if err != nil {
		return err
	}
	answer := make([]leaderboard, len(list))
	for i, t := range list {
		answer[i] = leaderboard{ID: t.ID, Name: t.Slug, Description: t.Title, CreatorID: t.OwnerID, Deadline: t.Deadline,
			GPUTypes: site.NonNilSlice(t.Devices), Task: taskMetadata{t.Lang, site.NonNilSlice(t.Tags)}}
	}
	return c.JSON(answer)
}

// GPUs lists the devices of a task.
func (p *Popcorn) GPUs(c *fiber.Ctx) error {
	task, err := p.taskOfPath(c)
	if err != nil {
		return err
	}
	return c.JSON(site.NonNilSlice(task.Devices))
}

// taskOfPath reads the task of the path. A leaderboard name such as vectoradd_v2 matches the slug vectoradd-v2.
func (p *Popcorn) taskOfPath(c *fiber.Ctx) (catalog.Task, error) {
	return p.runs.VisibleTask(c.UserContext(), site.Actor(c), db.Slug(c.Params("leaderboard")))
}

// Board lists the entries of a task's current board.
func (p *Popcorn) Board(c *fiber.Ctx) error {
	task, err := p.taskOfPath(c)
	if err != nil {
		return err
	}
	device := c.Params("gpu")
	if meant := gpuname.DevicesWithName(device, task.Devices); len(meant) == 1 {
		device = meant[0]
	}
	if _, err := p.runs.BoardHead(c.UserContext(), task, task.VersionID, device); err != nil {
		return err
	}
	limit, offset := boundedNumber(c, "limit", maxBoardEntries, maxBoardEntries),
		boundedNumber(c, "offset", 0, maxOffset)
	page, err := p.site.Store.Boards.Board(c.UserContext(), task.VersionID, device, boards.BoardPartQuery{
		Offset: offset,
		Limit:  limit,
	})
	if err != nil {
		return err
	}
	answer, err := p.boardEntries(c.UserContext(), task, page)
	if err != nil {
		return err
	}
	return c.JSON(answer)
}

func (p *Popcorn) boardEntries(ctx context.Context, task catalog.Task, page boards.BoardPart) ([]boardEntry, error) {
	ids := make([]int64, len(page.Standings))
	for i, st := range page.Standings {
		ids[i] = st.SubmissionID
	}
	filed, err := p.site.Store.Submissions.Details(ctx, ids...)
	list := make([]boardEntry, len(page.Standings))
	for i, st := range page.Standings {
		list[i] = boardEntry{SubmissionID: st.SubmissionID, Rank: st.Rank, SubmissionName: filed[st.SubmissionID].FileName, SubmissionTime: st.AchievedAt, SubmissionScore: secondsFromNS(st.ScoreNS),
			LeaderboardName: task.Slug, UserID: strconv.FormatInt(st.UserID, 10), UserName: st.UserName, GPUType: page.Device}
	}
	return list, err
}

// RunnerQueue responds with the number of runs that wait for a GPU, or for all GPUs of a family.
func (p *Popcorn) RunnerQueue(c *fiber.Ctx) error {
	devices, err := p.runs.DeviceList(c.UserContext())
	if err != nil {
		return err
	}
	names := make([]string, len(devices))
	for i, d := range devices {
		names[i] = d.Device
	}
	meant := gpuname.DevicesWithName(c.Params("gpu"), names)
	if len(meant) == 0 {
		return db.Errorf(db.NotFound, "No worker has the GPU %q, and no work waits for it.", c.Params("gpu"))
	}
	queue := runnerQueueOf(devices, meant...)
	queue.GPU = c.Params("gpu")
	return c.JSON(queue)
}

// deviceQueue returns the queue of a device.
func (p *Popcorn) deviceQueue(ctx context.Context, device string) (*runnerQueue, error) {
	devices, err := p.runs.DeviceList(ctx)
	return runnerQueueOf(devices, device), err
}

func runnerQueueOf(known []client.Device, names ...string) *runnerQueue {
	queue := &runnerQueue{Runner: "Warpboard"}
	for _, name := range names {
		queue.GPU = name
		for _, d := range known {
			if d.Device == name {
				queue.QueuedJobs += d.Queued
			}
		}
	}
	return queue
}

// boundedNumber returns a number in the query, at most most, or standard if it is missing.
func boundedNumber(c *fiber.Ctx, name string, standard, most int) int {
	asked := c.QueryInt(name, standard)
	if asked < 0 {
		asked = standard
	}
	return min(asked, most)
}

func secondsFromNS(ns float64) float64 { return ns / 1e9 }

func optionalSeconds(ns *float64) *float64 {
	if ns == nil {
		return nil
	}
	s := secondsFromNS(*ns)
	return &s
}
