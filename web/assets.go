package web

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/gofiber/fiber/v2"

	"warpboard/static"
	"warpboard/web/site"
)

// assets are the embedded files as they are sent: packed once, as small as can be, which takes too long to do it for every
// request. The zero value is ready.
type assets struct {
	mu     sync.Mutex
	packed map[string][]byte // by encoding and name
}

// large is from how many bytes on brotli's best, which packs 300 kB a second, would keep a first visitor waiting.
const large = 200_000

// pack gives a file in one of the encodings br and gzip.
func (a *assets) pack(encoding, name string, data []byte) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := encoding + " " + name
	if packed := a.packed[key]; packed != nil {
		return packed, nil
	}
	var out bytes.Buffer
	w, err := packer(&out, encoding, len(data))
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("packing %s: %w", name, err)
	}
	if a.packed == nil {
		a.packed = map[string][]byte{}
	}
	a.packed[key] = out.Bytes()
	return out.Bytes(), nil
}

func packer(out io.Writer, encoding string, size int) (io.WriteCloser, error) {
	switch {
	case encoding == "gzip":
		return gzip.NewWriterLevel(out, gzip.BestCompression)
	case size >= large:
		return brotli.NewWriterLevel(out, 9), nil
	}
	return brotli.NewWriterLevel(out, brotli.BestCompression), nil
}

// asset serves an embedded file. Its address holds the hash of the whole set, so browsers keep it for
// ever; one with an old hash gets today's file, and asks again next time.
func (s *Server) asset(c *fiber.Ctx) error {
	name := c.Params("name")
	data, err := fs.ReadFile(static.Files(), name)
	if err != nil {
		return site.NotFound(c)
	}
	c.Set(fiber.HeaderCacheControl, "no-cache")
	if c.Params("version") == static.Version() {
		c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	}
	c.Type(path.Ext(name), "utf-8")
	c.Vary(fiber.HeaderAcceptEncoding)
	for _, encoding := range []string{"br", "gzip"} {
		if path.Ext(name) != ".woff2" && c.Request().Header.HasAcceptEncoding(encoding) {
			if data, err = s.assets.pack(encoding, name, data); err != nil {
				return err
			}
			c.Set(fiber.HeaderContentEncoding, encoding)
			break
		}
	}
	return c.Send(data)
}
