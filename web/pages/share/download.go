package share

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/views/format"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

func boardPath(slug, device string) string {
	return "/tasks/" + url.PathEscape(slug) + "/boards/" + url.PathEscape(device)
}

// BoardCSV is everybody on a board, for a spreadsheet.
func (s *Share) BoardCSV(c *fiber.Ctx) error {
	b, err := s.boardOf(c)
	if err != nil {
		return err
	}
	list, _, err := s.Store.Past(c.UserContext(), b.head.VersionID, b.head.Device, s.Now())
	if err != nil {
		return err
	}
	rows := [][]string{{"rank", "tied", "person", "person_id", "score_ns", "error_ns", "interval_low_ns", "interval_high_ns", "processes", "tries", "achieved_at", "run", "submission", "pooled_runs", "disturbed",
		"error_ulp", "error_relative", "energy_j"}}
	for _, e := range list {
		rows = append(rows, []string{strconv.Itoa(e.Rank), strconv.FormatBool(e.Tied), e.UserName, number(e.UserID), format.Exact(e.ScoreNS), format.Exact(e.ErrNS),
			exact(e.LowNS), exact(e.HighNS), strconv.Itoa(e.Processes), strconv.Itoa(e.Tries), machineTime(e.AchievedAt), number(e.RunID), number(e.SubmissionID), strconv.Itoa(max(e.Pooled, 1)), e.Disturbed,
			exact(e.ErrorULP), exact(e.ErrorRelative), exact(e.EnergyJ)})
	}
	return site.SendCSV(c, rows)
}

func number(id int64) string { return strconv.FormatInt(id, 10) }

func exact(ns *float64) string {
	if ns == nil {
		return ""
	}
	return format.Exact(*ns)
}

const (
	datasetRows = 500
	// licence is the first line of a dataset.
	licence = "The times are facts: CC0-1.0. Each source is its author's; it is given here to be read and to reproduce its time."
)

// datasetHead is the first line of a dataset, datasetLine each other.
type datasetHead struct {
	Licence string `json:"licence"`
	Task    string `json:"task"`
	Version int    `json:"version"`
	Device  string `json:"device"`
	Entries int    `json:"entries"` // on all pages
	Next    string `json:"next,omitempty"`
}

type datasetLine struct {
	Rank       int      `json:"rank"`
	Tied       bool     `json:"tied"`
	Person     string   `json:"person"`
	PersonID   int64    `json:"person_id"`
	ScoreNS    float64  `json:"score_ns"`
	ErrorNS    float64  `json:"error_ns"`
	LowNS      *float64 `json:"interval_low_ns"`
	HighNS     *float64 `json:"interval_high_ns"`
	Processes  int      `json:"processes"`
	Tries      int      `json:"tries"`
	AchievedAt string   `json:"achieved_at"`
	Run        int64    `json:"run"`
	PooledRuns int      `json:"pooled_runs"` // of equal source, that the score is made of
	Disturbed  string   `json:"disturbed"`   // why the conditions were bad
	Source     string   `json:"source"`
	// Files are further files, by name.
	Files map[string]string `json:"files,omitempty"`
}

// Dataset is everybody on a board of a closed task with their sources, as JSON lines.
func (s *Share) Dataset(c *fiber.Ctx) error {
	b, err := s.boardOf(c)
	if err != nil {
		return err
	}
	if b.task.Deadline == nil || b.task.Open(s.Now()) {
		return models.Errorf(models.Forbidden, "The dataset of %s has the sources, which everybody may read after the task's deadline.", b.task.Title)
	}
	list, _, err := s.Store.Past(c.UserContext(), b.head.VersionID, b.head.Device, s.Now())
	if err != nil {
		return err
	}
	version, err := s.Store.Version(c.UserContext(), b.head.VersionID)
	if err != nil {
		return err
	}
	number := max(c.QueryInt("page", 1), 1)
	head := datasetHead{Licence: licence, Task: b.task.Slug, Version: version.Number, Device: b.head.Device, Entries: len(list)}
	from := min((number-1)*datasetRows, len(list))
	to := min(from+datasetRows, len(list))
	if to < len(list) {
		head.Next = fmt.Sprintf("%s%s?page=%d", s.BaseURL, c.Path(), number+1)
	}
	return s.sendDataset(c, head, list[from:to])
}

func (s *Share) sendDataset(c *fiber.Ctx, head datasetHead, list []models.Shown) error {
	ids := make([]int64, len(list))
	for i, e := range list {
		ids[i] = e.SubmissionID
	}
	sources, err := s.Store.Sources(c.UserContext(), ids)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	err = out.Encode(head)
	for _, e := range list {
		if err == nil {
			err = out.Encode(datasetLine{e.Rank, e.Tied, e.UserName, e.UserID, e.ScoreNS, e.ErrNS, e.LowNS, e.HighNS, e.Processes, e.Tries,
				machineTime(e.AchievedAt), e.RunID, max(e.Pooled, 1), e.Disturbed, string(sources[e.SubmissionID].Source), runs.Texts(sources[e.SubmissionID].Files)})
		}
	}
	if err != nil {
		return fmt.Errorf("writing the dataset: %w", err)
	}
	c.Set(fiber.HeaderContentType, "application/jsonl; charset=utf-8")
	return c.Send(text.Bytes())
}
