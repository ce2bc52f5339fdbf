package site

import (
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/sys/unix"
)

// Room refuses what would be stored while the disk is nearly full: a disk that is full ends runs that
// were accepted.
func (s *Site) Room() error {
	if s.Disk == "" || s.MinFree == 0 {
		return nil
	}
	free, err := FreeBytes(s.Disk)
	if err != nil || free >= s.MinFree {
		return err
	}
	return &Failure{Status: fiber.StatusServiceUnavailable, Code: "disk_full", RetryAfter: time.Minute, Message: fmt.Sprintf(
		"The site's disk is nearly full: %d MiB are left, and it keeps %d MiB free. Nothing can be submitted until its operator has made room.",
		free>>20, s.MinFree>>20)}
}

func FreeBytes(dir string) (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, fmt.Errorf("look at the disk of %s: %w", dir, err)
	}
	return int64(stat.Bavail) * stat.Bsize, nil
}

// VisitorIP is the visitor's address in words; a proxy's own when it does not say whose request it brings.
func (s *Site) VisitorIP(c *fiber.Ctx) string {
	if a := s.Proxies.Visitor(c); a.IsValid() {
		return a.String()
	}
	return c.IP()
}
