package site

import (
	"fmt"
	"io"
	"mime/multipart"
	"strings"
	"unicode"
	"warpboard/tasks"

	"github.com/gofiber/fiber/v2"
)

// Attachment answers with a download, which no browser shows as a page of this site. Its name may be older than the
// rule for names: a line break would name another file, or end the header.
func Attachment(c *fiber.Ctx, name string, data []byte) error {
	c.Attachment(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '_'
		}
		return r
	}, name))
	c.Set(fiber.HeaderContentType, fiber.MIMEOctetStream)
	return c.Send(data)
}

// ReadUpload reads an uploaded file, and at most one byte more than limit, with which the caller can detect the excess.
func ReadUpload(header *multipart.FileHeader, limit int64) ([]byte, error) {
	file, err := header.Open()
	if err != nil {
		return nil, fmt.Errorf("open the upload %s: %w", header.Filename, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read the upload %s: %w", header.Filename, err)
	}
	return data, nil
}

// LegacyFile returns the one file of a task in the legacy format, under a name whose suffix shows the language. Its
// run-time name, reference.cuh for C++ too, does not.
func LegacyFile(b *tasks.Bundle) (name string, text []byte) {
	for _, text = range b.Files {
		break
	}
	return b.Name + "." + string(b.Definition.Lang), text
}
