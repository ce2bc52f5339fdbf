package boards

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/parquet-go/parquet-go"

	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/tasks"
	"warpboard/web/site"
)

const (
	datasetRowsPerPage = 500
	// maxDatasetPageBytes limits the total size of the sources on one page of a dataset, which are in memory at the
	// same time. One source has at most 1 MiB.
	maxDatasetPageBytes = 16 << 20
	// licenseNote is the license note in every dataset.
	licenseNote = "The times are facts: CC0-1.0. Each source is its author's; it is given here to be read and to reproduce its time."
)

// datasetHead describes a dataset. It is the first line of a JSON Lines file, and the metadata of a Parquet file.
type datasetHead struct {
	Licence string `json:"licence"`
	Task    string `json:"task"`
	Version int    `json:"version"`
	Device  string `json:"device"`
	Entries int    `json:"entries"` // number of entries on all pages
	Next    string `json:"next,omitempty"`
}

// datasetRow is one entry of a board, as a line of JSON or a row of Parquet. docs/datasets.md describes the fields.
type datasetRow struct {
	Rank       int       `json:"rank" parquet:"rank"`
	Tied       bool      `json:"tied" parquet:"tied"`
	Person     string    `json:"person" parquet:"person"`
	PersonID   int64     `json:"person_id" parquet:"person_id"`
	ScoreNS    float64   `json:"score_ns" parquet:"score_ns"`
	ErrorNS    float64   `json:"error_ns" parquet:"error_ns"`
	LowNS      *float64  `json:"interval_low_ns" parquet:"interval_low_ns,optional"`
	HighNS     *float64  `json:"interval_high_ns" parquet:"interval_high_ns,optional"`
	Processes  int       `json:"processes" parquet:"processes"`
	Tries      int       `json:"tries" parquet:"tries"`
	AchievedAt time.Time `json:"achieved_at" parquet:"achieved_at,timestamp(microsecond)"`
	Run        int64     `json:"run" parquet:"run"`
	PooledRuns int       `json:"pooled_runs" parquet:"pooled_runs"` // runs of identical source in the score
	Disturbed  string    `json:"disturbed" parquet:"disturbed"`     // reason for bad conditions
	Source     string    `json:"source" parquet:"source"`
	// Files has the additional files of the submission, by name.
	Files map[string]string `json:"files,omitempty" parquet:"files"`
}

// Dataset responds with the entries of a closed task's board and their sources, as Parquet or JSON Lines depending on
// the extension of the path.
func (p *Boards) Dataset(c *fiber.Ctx) error {
	b, err := p.closedBoard(c)
	if err != nil {
		return err
	}
	leave, err := p.acquireEncoder(c.UserContext())
	if err != nil {
		return err
	}
	defer leave()
	head, rows, err := p.datasetPage(c, b, max(c.QueryInt("after"), 0))
	if err != nil {
		return err
	}
	if head.Next != "" {
		c.Set(fiber.HeaderLink, "<"+head.Next+`>; rel="next"`)
	}
	if path.Ext(c.Path()) == ".parquet" {
		return sendParquet(c, head, rows)
	}
	return sendJSONLines(c, head, rows)
}

// closedBoard reads the board of the path. It returns an error if the task is still open.
func (p *Boards) closedBoard(c *fiber.Ctx) (publicBoard, error) {
	b, err := p.publicBoardOf(c)
	if err == nil && (b.task.Deadline == nil || b.task.AcceptsSubmissions(p.site.Now())) {
		err = db.Errorf(db.Forbidden, "The dataset of %s has the sources, which everyone can read after the task's deadline.", b.task.Title)
	}
	return b, err
}

// acquireEncoder waits until fewer datasets than CPU cores are being encoded. Call leave afterwards.
func (p *Boards) acquireEncoder(ctx context.Context) (leave func(), err error) {
	select {
	case p.encoderSlots <- struct{}{}:
		return func() { <-p.encoderSlots }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// datasetPage reads the entries of a dataset from an offset on, up to the size of one page.
func (p *Boards) datasetPage(c *fiber.Ctx, b publicBoard, after int) (head datasetHead, rows []datasetRow, err error) {
	list, _, err := p.site.Store.Boards.StandingsAt(c.UserContext(), b.boardHead.VersionID, b.boardHead.Device, p.site.Now())
	if err != nil {
		return head, nil, err
	}
	version, err := p.site.Store.Catalog.Version(c.UserContext(), b.boardHead.VersionID)
	if err != nil {
		return head, nil, err
	}
	head = datasetHead{
		Licence: licenseNote,
		Task:    b.task.Slug,
		Version: version.Number,
		Device:  b.boardHead.Device,
		Entries: len(list),
	}
	list = list[min(after, len(list)):]
	page := list[:min(datasetRowsPerPage, len(list))]
	sizes, err := p.site.Store.Submissions.SourceSizes(c.UserContext(), submissionIDs(page))
	if err != nil {
		return head, nil, err
	}
	page = page[:rowsWithinBytes(page, func(e boards.Standing) int64 { return sizes[e.SubmissionID] }, maxDatasetPageBytes)]
	if len(page) < len(list) {
		head.Next = fmt.Sprintf("%s%s?after=%d", p.site.Settings.BaseURL, c.Path(), after+len(page))
	}
	rows, err = p.datasetRows(c, page)
	return head, rows, err
}

// rowsWithinBytes returns the number of leading rows whose total size is at most most bytes. It returns at least 1.
func rowsWithinBytes[R any](list []R, size func(R) int64, most int64) int {
	for i, row := range list {
		if most -= size(row); most < 0 {
			return max(i, 1)
		}
	}
	return len(list)
}

func submissionIDs(list []boards.Standing) []int64 {
	ids := make([]int64, len(list))
	for i, e := range list {
		ids[i] = e.SubmissionID
	}
	return ids
}

func (p *Boards) datasetRows(c *fiber.Ctx, list []boards.Standing) ([]datasetRow, error) {
	sources, err := p.site.Store.Submissions.Sources(c.UserContext(), submissionIDs(list))
	rows := make([]datasetRow, len(list))
	for i, e := range list {
		source := sources[e.SubmissionID]
		if e.ExcludedFromDatasets {
			source = tasks.Submission{}
		}
		rows[i] = datasetRow{e.Rank, e.Tied, e.UserName, e.UserID, e.ScoreNS, e.StandardErrorNS, e.LowNS, e.HighNS, e.Processes, e.TryCount,
			e.AchievedAt.UTC().Truncate(time.Second), e.RunID, max(e.PooledRunCount, 1), e.DisturbedReason, string(source.Source), source.FileTexts()}
	}
	return rows, err
}

func sendJSONLines(c *fiber.Ctx, head datasetHead, rows []datasetRow) error {
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	err := out.Encode(head)
	for _, row := range rows {
		if err == nil {
			err = out.Encode(row)
		}
	}
	if err != nil {
		return fmt.Errorf("writing the dataset: %w", err)
	}
	c.Set(fiber.HeaderContentType, "application/jsonl; charset=utf-8")
	return c.Send(text.Bytes())
}

// sendParquet sends the rows as Parquet with one row group, compressed with zstd.
func sendParquet(c *fiber.Ctx, head datasetHead, rows []datasetRow) error {
	var file bytes.Buffer
	out := parquet.NewGenericWriter[datasetRow](&file, parquet.Compression(&parquet.Zstd),
		parquet.KeyValueMetadata("licence", head.Licence), parquet.KeyValueMetadata("task", head.Task),
		parquet.KeyValueMetadata("version", strconv.Itoa(head.Version)), parquet.KeyValueMetadata("device", head.Device),
		parquet.KeyValueMetadata("entries", strconv.Itoa(head.Entries)), parquet.KeyValueMetadata("next", head.Next))
	_, err := out.Write(rows)
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		return fmt.Errorf("writing the dataset: %w", err)
	}
	return site.SendAttachment(c, fmt.Sprintf("%s-%s.parquet", head.Task, head.Device), file.Bytes())
}
