package files

import (
	"context"
	"io"
	"strings"
	"time"
)

// File is a stored content that is open for reading.
type File interface {
	io.ReadSeekCloser
}

// Files stores contents by their digests.
type Files interface {
	// Put stores a content under its digest and renews its age. It returns ErrDiskFull if the disk is nearly full.
	Put(ctx context.Context, digest string, data []byte) error
	// Open opens a content. It returns fs.ErrNotExist if there is none.
	Open(ctx context.Context, digest string) (File, error)
	// Sweep deletes contents that were last put before a time and for which named returns false.
	Sweep(ctx context.Context, before time.Time, named func(digest string) (bool, error)) error
}

// Open returns a store in a local folder, or in an S3 bucket if where is s3://KEY:SECRET@HOST/BUCKET/PREFIX. A local
// store keeps minFree bytes of its disk free.
func Open(where string, minFree int64) (Files, error) {
	if IsS3(where) {
		return newBucket(where)
	}
	return newFolder(where, minFree)
}

// IsS3 reports whether where is the URL of an S3 bucket.
func IsS3(where string) bool {
	return strings.HasPrefix(where, "s3://") || strings.HasPrefix(where, "s3+http://")
}
