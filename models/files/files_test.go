package files_test

import (
	"errors"
	"io"
	"io/fs"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"warpboard/models/files"
)

// TestContentsAreKeptByDigestInAFolderAndInAStore checks both kinds of stores, a local folder and an S3 server.
func TestContentsAreKeptByDigestInAFolderAndInAStore(t *testing.T) {
	memory := s3mem.New()
	if err := memory.CreateBucket("warpboard"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(memory).Server())
	defer server.Close()
	for name, where := range map[string]string{
		"folder": t.TempDir() + "/artifacts",
		"s3": "s3+http://key:secret@" + strings.TrimPrefix(server.URL, "http://") +
			"/warpboard/artifacts?region=us-east-1",
	} {
		t.Run(name, func(t *testing.T) {
			kept, err := files.Open(where, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, digest := range []string{"aa1", "aa1", "bb2"} {
				if err := kept.Put(t.Context(), digest, []byte("content of "+digest)); err != nil {
					t.Fatal(err)
				}
			}
			read := func(digest string) string {
				t.Helper()
				f, err := kept.Open(t.Context(), digest)
				if errors.Is(err, fs.ErrNotExist) {
					return ""
				}
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if _, err := f.Seek(11, io.SeekStart); err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(f)
				if err != nil {
					t.Fatal(err)
				}
				return string(text)
			}
			sweep := func(before time.Time) {
				t.Helper()
				if err := kept.Sweep(t.Context(), before,
					func(digest string) (bool, error) { return digest == "aa1", nil }); err != nil {
					t.Fatal(err)
				}
			}
			sweep(time.Now().Add(-time.Hour))
			if read("aa1") != "aa1" || read("bb2") != "bb2" || read("cc3") != "" {
				t.Errorf("read %q, %q, %q", read("aa1"), read("bb2"), read("cc3"))
			}
			sweep(time.Now().Add(time.Hour))
			if read("aa1") != "aa1" || read("bb2") != "" {
				t.Errorf("after a sweep: %q, %q", read("aa1"), read("bb2"))
			}
		})
	}
	if _, err := files.Open("s3://key:hidden@host", 0); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("an address without a bucket: %v", err)
	}
}
