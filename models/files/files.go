package files

import (
	"context"
	"io"
	"strings"
	"time"
)

// File is a content opened for reading.
type File interface {
	io.ReadSeekCloser
}

// Files is a store of contents.
type Files interface {
	// Put stores a content under its digest; a sweep treats it as new from then on. It fails with ErrFull in a folder
	// on a disk that is nearly full.
	Put(ctx context.Context, digest string, data []byte) error
	// Open opens a content. The error for a missing one is fs.ErrNotExist.
	Open(ctx context.Context, digest string) (File, error)
	// Sweep removes contents that were put before a time and are not referenced.
	Sweep(ctx context.Context, before time.Time, named func(digest string) (bool, error)) error
}

// Open returns the files in a folder, keeping minFree bytes of its disk free, or those at
// s3://KEY:SECRET@HOST/BUCKET/PREFIX.
func Open(where string, minFree int64) (Files, error) {
	if IsS3(where) {
		return newBucket(where)
	}
	return newFolder(where, minFree)
}

// IsS3 reports whether an address names an S3 store.
func IsS3(where string) bool {
	return strings.HasPrefix(where, "s3://") || strings.HasPrefix(where, "s3+http://")
}
