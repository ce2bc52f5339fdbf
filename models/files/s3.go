package files

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// requestTimeout limits one request to the S3 server.
const requestTimeout = time.Minute

// s3Bucket stores each content as one object.
type s3Bucket struct {
	client       *minio.Client
	name, prefix string
}

// newBucket parses s3://KEY:SECRET@HOST[:PORT]/BUCKET[/PREFIX][?region=R]. s3+http:// is the same without TLS.
func newBucket(where string) (s3Bucket, error) {
	u, err := url.Parse(where)
	if err != nil {
		return s3Bucket{}, fmt.Errorf("the address of artifacts is not s3://KEY:SECRET@HOST/BUCKET") // the parser's error quotes the secret
	}
	name, prefix, _ := strings.Cut(strings.Trim(u.Path, "/"), "/")
	secret, _ := u.User.Password()
	if u.Host == "" || name == "" {
		return s3Bucket{}, fmt.Errorf("the address of artifacts names no host or no bucket: want s3://KEY:SECRET@HOST/BUCKET")
	}
	client, err := minio.New(u.Host, &minio.Options{
		Creds: credentials.NewStaticV4(u.User.Username(), secret, ""), Secure: u.Scheme == "s3", Region: u.Query().Get("region"),
	})
	if err != nil {
		return s3Bucket{}, fmt.Errorf("artifacts at %s: %w", u.Host, err)
	}
	return s3Bucket{client, name, prefix}, nil
}

func (b s3Bucket) key(digest string) string { return path.Join(b.prefix, digest[:2], digest) }

// Put writes the object even if it exists, which renews its age.
func (b s3Bucket) Put(ctx context.Context, digest string, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	_, err := b.client.PutObject(ctx, b.name, b.key(digest), bytes.NewReader(data), int64(len(data)), minio.PutObjectOptions{})
	if err != nil {
		return fmt.Errorf("writing to the bucket %s: %w", b.name, err)
	}
	return nil
}

// Open starts reading the object.
func (b s3Bucket) Open(ctx context.Context, digest string) (File, error) {
	object, err := b.client.GetObject(ctx, b.name, b.key(digest), minio.GetObjectOptions{})
	if err == nil {
		_, err = object.Stat()
	}
	if minio.ToErrorResponse(err).Code == "NoSuchKey" {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("reading from the bucket %s: %w", b.name, err)
	}
	return object, nil
}

// Sweep deletes old objects without a reference.
func (b s3Bucket) Sweep(ctx context.Context, before time.Time, named func(string) (bool, error)) error {
	ctx, cancel := context.WithCancel(ctx) // cancelling stops the listing when Sweep returns early
	defer cancel()
	for object := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix, Recursive: true}) {
		if object.Err != nil {
			return fmt.Errorf("listing the bucket %s: %w", b.name, object.Err)
		}
		if !object.LastModified.Before(before) {
			continue
		}
		kept, err := named(path.Base(object.Key))
		if err == nil && !kept {
			err = b.client.RemoveObject(ctx, b.name, object.Key, minio.RemoveObjectOptions{})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
