package runs

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/files"
	"warpboard/models/work"
	"warpboard/views/format"
	"warpboard/web/site"
)

// uncompressedReader reads the original content of a compressed file.
type uncompressedReader struct {
	io.Reader
	io.Closer
}

// maxUnpackedBytes limits the size of a file that a request decompresses, in bytes. A program under ncu can write a
// file that compresses to a thousandth of its size.
const maxUnpackedBytes = 8 << 20

// OpenedArtifact is an artifact that was opened for sending.
type OpenedArtifact struct {
	io.ReadCloser
	Size int
	Gzip bool // the content is compressed with gzip
}

// OpenArtifact opens an artifact. unpacks means that the client accepts gzip. The first maxUnpackedBytes are unpacked
// as a check, because errors cannot be reported once the response has begun. Larger files are sent only to clients that
// accept gzip.
func (s *Runs) OpenArtifact(a work.Artifact, unpacks bool) (OpenedArtifact, error) {
	// not the request's context: the file is read after the handler has returned
	f, err := s.site.Store.Work.OpenArtifact(s.site.RequestContext, a)
	if err != nil {
		return OpenedArtifact{}, err
	}
	if !strings.HasSuffix(a.Name, ".gz") {
		return OpenedArtifact{f, int(a.Size), false}, nil
	}
	z, size, err := openCompressed(f)
	switch {
	case err != nil:
		return OpenedArtifact{}, errors.Join(damagedFileError(a, err), f.Close())
	case unpacks:
		whole, err := f.Seek(0, io.SeekEnd)
		if err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
		return OpenedArtifact{f, int(whole), true}, err
	case size > maxUnpackedBytes:
		return OpenedArtifact{}, errors.Join(&site.Failure{Status: fiber.StatusNotAcceptable, Code: "packed_only",
			Message: fmt.Sprintf("This file is larger than %s, and is only sent compressed. Request it with Accept-Encoding: gzip, as curl --compressed does.", format.Bytes(maxUnpackedBytes))}, f.Close())
	}
	if _, err = f.Seek(0, io.SeekStart); err == nil {
		err = z.Reset(f)
	}
	return OpenedArtifact{uncompressedReader{z, f}, size, false}, err
}

// damagedFileError returns the error for a file that cannot be read.
func damagedFileError(a work.Artifact, why error) error {
	return errors.Join(fmt.Errorf("read %s of run %d: %w", a.Name, a.RunID, why), &site.Failure{Status: fiber.StatusInternalServerError, Code: "damaged",
		Message: "The report file of this case is damaged. Submit in mode profile to create a new one."})
}

// openCompressed opens a compressed file and returns its uncompressed size, counted up to maxUnpackedBytes.
func openCompressed(f files.File) (*gzip.Reader, int, error) {
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, 0, err
	}
	size, err := io.Copy(io.Discard, io.LimitReader(z, maxUnpackedBytes+1))
	return z, int(size), err
}
