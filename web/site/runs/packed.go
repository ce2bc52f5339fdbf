package runs

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/ncu"
	"warpboard/models/files"
	"warpboard/models/work"
	"warpboard/web/site"
)

// unpackedFile is a packed file as it was before.
type unpackedFile struct {
	io.Reader
	io.Closer
}

// OpenPacked opens an artifact to read it unpacked, and returns its unpacked size. It reads the whole packed file first,
// because a damaged file cannot be reported once an answer has begun.
func (s *Runs) OpenPacked(a work.Artifact) (io.ReadCloser, int, error) {
	f, err := s.site.Store.Work.OpenArtifact(s.site.Requests, a) // it is read after the handler has returned
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
