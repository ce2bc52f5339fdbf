package profiles

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/ncu"
	"warpboard/models/db"
	"warpboard/models/files"
	"warpboard/models/work"
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
	index := charts.ReadQuery(queryOf(c)).Case
	profile, err := p.runs.ProfileOf(c.UserContext(), seen)
	if err != nil {
		return err
	}
	written, ok := profile.ReportFile(index)
	if !ok {
		return db.Errorf(db.NotFound, "There is no report file of this case.")
	}
	file, size, err := p.openPacked(written.Artifact)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("run-%d-case-%d.ncu-rep", seen.Run.ID, index)
	if written.First < written.Last {
		name = fmt.Sprintf("run-%d-cases-%d-%d.ncu-rep", seen.Run.ID, written.First, written.Last)
	}
	c.Attachment(name)
	c.Set(fiber.HeaderContentType, fiber.MIMEOctetStream)
	return c.SendStream(file, size)
}

// PTX sends what the compiler made of a kernel before the machine code: of the one asked for, else of the one that took the
// most time.
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

// unpackedFile is a packed file as it was before.
type unpackedFile struct {
	io.Reader
	io.Closer
}

// openPacked opens an artifact to read it unpacked, and tells its size then. It reads the whole of what is
// packed first: once an answer has begun, nothing can say any more that the file is damaged.
func (p *Profiles) openPacked(a work.Artifact) (io.ReadCloser, int, error) {
	f, err := p.site.Store.Work.OpenArtifact(p.site.Requests, a) // it is read after the handler has returned
	if err != nil {
		return nil, 0, err
	}
	if !strings.HasSuffix(a.Name, ".gz") {
		return f, int(a.Size), nil
	}
	z, size, err := unpacked(f)
	if err != nil {
		damaged := &site.Failure{Status: fiber.StatusInternalServerError, Code: "damaged",
			Message: "The report file of this case is damaged. Submit with the mode profile to make another."}
		return nil, 0, errors.Join(fmt.Errorf("read %s of run %d: %w", a.Name, a.RunID, err), damaged, f.Close())
	}
	return unpackedFile{z, f}, size, nil
}

// unpacked reads a packed file through, and then from its beginning again.
func unpacked(f files.File) (*gzip.Reader, int, error) {
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, 0, err
	}
	size, err := io.Copy(io.Discard, io.LimitReader(z, ncu.MaxReport+1))
	if err != nil {
		return nil, 0, err
	}
	if size > ncu.MaxReport {
		return nil, 0, fmt.Errorf("unpacked it has more than %d bytes", ncu.MaxReport)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, 0, err
	}
	return z, int(size), z.Reset(f)
}
