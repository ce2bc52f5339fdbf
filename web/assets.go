package web

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"github.com/gofiber/fiber/v2"

	"warpboard/static"
	"warpboard/web/site"
)

// assets are the embedded files as they are sent to who takes gzip and not brotli, for which static has them packed: packed
// once, as small as can be. The zero value is ready.
type assets struct {
	mu     sync.Mutex
	packed map[string][]byte // by name
}

func (a *assets) gzip(name string, data []byte) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if packed := a.packed[name]; packed != nil {
		return packed, nil
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
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
	a.packed[name] = out.Bytes()
	return out.Bytes(), nil
}

// asset serves an embedded file. Its address holds the hash of the whole set, so browsers cache it permanently. An address
// with an old hash gets today's file, which browsers must revalidate.
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
	takes := c.Request().Header.HasAcceptEncoding
	if packed, ok := static.Packed(name); ok && takes("br") {
		c.Set(fiber.HeaderContentEncoding, "br")
		return c.Send(packed)
	} else if ok && takes("gzip") {
		if data, err = s.assets.gzip(name, data); err != nil {
			return err
		}
		c.Set(fiber.HeaderContentEncoding, "gzip")
	}
	return c.Send(data)
}
