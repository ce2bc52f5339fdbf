package boards

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/parquet-go/parquet-go"

	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/web/site"
)

// kernelbotRowsPerPage is the number of runs on one page of the KernelBot dataset. It is smaller than for the other
// dataset, which has one run per person.
const kernelbotRowsPerPage = 100

// kernelbotRow is one ranked run, with the columns of KernelBot's public dataset GPUMODE/kernelbot-data.
type kernelbotRow struct {
	SubmissionID   int64     `parquet:"submission_id"`
	LeaderboardID  int64     `parquet:"leaderboard_id"`
	ProblemName    string    `parquet:"problem_name"`
	UserID         string    `parquet:"user_id"`
	UserName       string    `parquet:"user_name"`
	CodeID         int64     `parquet:"code_id"` // ID of the last submission of this source
	FileName       string    `parquet:"file_name"`
	SubmissionTime time.Time `parquet:"submission_time,timestamp(microsecond)"`
	Status         string    `parquet:"status"`         // succeeded or failed
	Score          *float64  `parquet:"score,optional"` // in seconds
	Passed         bool      `parquet:"passed"`
	Mode           string    `parquet:"mode"`
	Runner         string    `parquet:"runner"`
	Code           string    `parquet:"code"`
}

// KernelBotDataset responds with the ranked runs of a closed task's board and their sources, in the format of
// KernelBot's public dataset.
func (p *Boards) KernelBotDataset(c *fiber.Ctx) error {
	b, err := p.closedBoard(c)
	if err != nil {
		return err
	}
	leave, err := p.acquireEncoder(c.UserContext())
	if err != nil {
		return err
	}
	defer leave()
	list, err := p.site.Store.Submissions.ExportedRuns(c.UserContext(), b.boardHead.VersionID, b.boardHead.Device, int64(max(c.QueryInt("after"), 0)), kernelbotRowsPerPage)
	if err != nil {
		return err
	}
	found := len(list)
	list = list[:rowsWithinBytes(list, func(e submissions.DatasetRow) int64 { return e.SourceBytes }, maxDatasetPageBytes)]
	rows, err := p.kernelbotRowsOf(c, b, list)
	if err != nil {
		return err
	}
	if found == kernelbotRowsPerPage || len(list) < found {
		c.Set(fiber.HeaderLink, fmt.Sprintf(`<%s%s?after=%d>; rel="next"`, p.site.Settings.BaseURL, c.Path(), list[len(list)-1].SubmissionID))
	}
	var file bytes.Buffer
	out := parquet.NewGenericWriter[kernelbotRow](&file, parquet.Compression(&parquet.Zstd), parquet.KeyValueMetadata("licence", licenseNote))
	if _, err = out.Write(rows); err == nil {
		err = out.Close()
	}
	if err != nil {
		return fmt.Errorf("writing the dataset: %w", err)
	}
	return site.SendAttachment(c, fmt.Sprintf("%s-%s-kernelbot.parquet", b.task.Slug, b.boardHead.Device), file.Bytes())
}

func (p *Boards) kernelbotRowsOf(c *fiber.Ctx, b publicBoard, list []submissions.DatasetRow) ([]kernelbotRow, error) {
	ids := make([]int64, len(list))
	for i, e := range list {
		ids[i] = e.SubmissionID
	}
	sources, err := p.site.Store.Submissions.Sources(c.UserContext(), ids)
	rows := make([]kernelbotRow, len(list))
	for i, e := range list {
		rows[i] = kernelbotRow{SubmissionID: e.SubmissionID, LeaderboardID: b.task.ID, ProblemName: b.task.Slug, UserID: strconv.FormatInt(e.UserID, 10),
			UserName: e.UserName, CodeID: e.SubmissionID, FileName: e.FileName, SubmissionTime: e.CreatedAt.UTC(), Status: "failed",
			Passed: e.State == work.StateDone, Mode: "leaderboard", Runner: b.boardHead.Device, Code: string(sources[e.SubmissionID].Source)}
		if rows[i].Passed {
			rows[i].Status = "succeeded"
		}
		if e.ScoreNS != nil {
			seconds := *e.ScoreNS / 1e9
			rows[i].Score = &seconds
		}
	}
	return rows, err
}

// DatasetCard responds with a README for a Hugging Face repository of a board's datasets.
func (p *Boards) DatasetCard(c *fiber.Ctx) error {
	b, err := p.closedBoard(c)
	if err != nil {
		return err
	}
	page := p.site.Settings.BaseURL + b.path()
	c.Set(fiber.HeaderContentType, "text/markdown; charset=utf-8")
	return c.SendString(fmt.Sprintf(`---
license: other
license_name: times-cc0-sources-their-authors
pretty_name: %[1]q
tags: [code, cuda, gpu-kernels]
configs:
  - config_name: entries
    data_files: dataset.parquet
  - config_name: runs
    data_files: kernelbot.parquet
---

# %[2]s

Kernels that people submitted to [%[2]s](%[3]s), with their measured times.

- `+"`dataset.parquet`"+`: the best run of each person. [Columns](%[4]s/docs/datasets#columns)
- `+"`kernelbot.parquet`"+`: all ranked runs, failed ones too, in the columns of GPUMODE/kernelbot-data. `+"`score`"+` is in seconds.

%[5]s
People can leave their sources out of datasets.

[What a score means](%[4]s/trust)
`, b.name(), markdownText(b.name()), page, p.site.Settings.BaseURL, licenseNote))
}

// markdownText escapes a text so that Markdown shows it literally.
func markdownText(text string) string {
	marks := regexp.MustCompile("[]\\\\`*_{}<>()#+!|~[-]")
	return marks.ReplaceAllString(text, `\$0`)
}
