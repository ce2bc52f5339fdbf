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

// SendAttachment responds with a download, so that no browser shows the file as a page of this site. It replaces
// control characters in the file name, because a line break would end the header.
func SendAttachment(c *fiber.Ctx, name string, data []byte) error {
	c.Attachment(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '_'
		}
		return r
	}, name))
	c.Set(fiber.HeaderContentType, fiber.MIMEOctetStream)
	return c.Send(data)
}

// ReadUpload reads an uploaded file up to limit+1 bytes, so that the caller can detect a larger file.
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

// LegacyFile returns the only file of a task in the legacy format. The suffix of its name is that of the task's
// language, unlike the suffix of its name in a run.
func LegacyFile(b *tasks.Bundle) (name string, text []byte) {
	for _, text = range b.Files {
		break
	}
	return b.Name + "." + string(b.Definition.Lang), text
}
