package profiles

import (
	"fmt"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/db"
	"warpboard/views/charts"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// File sends the report as ncu wrote it. It holds the source and the instructions.
func (p *Profiles) File(c *fiber.Ctx) error {
	seen, err := p.runs.LoadRun(c)
	if err != nil {
		return err
	}
	if !seen.MaySeeSource {
		return site.Forbidden("source", "The report holds the program itself: "+runs.SourceHidden(seen.Task)+".")
	}
	profile, err := p.runs.ProfileOf(c.UserContext(), seen)
	if err != nil {
		return err
	}
	index := profile.Case(charts.ReadQuery(queryOf(c)).Case)
	written, ok := profile.ReportFile(index)
	if !ok {
		return db.Errorf(db.NotFound, "There is no report file of this case.")
	}
	c.Vary(fiber.HeaderAcceptEncoding)
	file, err := p.runs.OpenPacked(written.Artifact, c.Request().Header.HasAcceptEncoding("gzip"))
	if err != nil {
		return err
	}
	if file.Gzip {
		c.Set(fiber.HeaderContentEncoding, "gzip")
	}
	name := fmt.Sprintf("run-%d-case-%d.ncu-rep", seen.Run.ID, index)
	if written.First < written.Last {
		name = fmt.Sprintf("run-%d-cases-%d-%d.ncu-rep", seen.Run.ID, written.First, written.Last)
	}
	c.Attachment(name)
	c.Set(fiber.HeaderContentType, fiber.MIMEOctetStream)
	return c.SendStream(file, file.Size)
}

// PTX sends the PTX of the requested kernel, or of the one that took the most time.
func (p *Profiles) PTX(c *fiber.Ctx) error {
	seen, index, report, err := p.seenReport(c)
	if err != nil {
		return err
	}
	if !seen.MaySeeSource {
		return site.Forbidden("source", "PTX shows the program itself: "+runs.SourceHidden(seen.Task)+".")
	}
	kernel := charts.DetailsVM{Query: charts.ReadQuery(queryOf(c)), Report: report}.Kernel()
	if kernel == nil || kernel.Source == nil || kernel.Source.PTX == "" {
		return db.Errorf(db.NotFound, "There is no PTX of this kernel.")
	}
	c.Attachment(fmt.Sprintf("run-%d-case-%d-kernel-%d.ptx", seen.Run.ID, index, kernel.ID))
	c.Set(fiber.HeaderContentType, fiber.MIMETextPlainCharsetUTF8)
	return c.SendString(kernel.Source.PTX)
}
