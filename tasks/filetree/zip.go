package filetree

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"warpboard/tasks/parse"
)

// unzipper unpacks an untrusted archive into memory. It checks names and modes, and counts bytes while unpacking.
type unzipper struct {
	limits     Limits
	files      MemoryTree
	names      map[string]string // folded name → name, of files and their folders
	folders    map[string]bool   // folders among names, by folded name
	totalBytes int64
}

// UnzipTree returns the regular files of a zip by path. Its errors are parse.Problem and name the file.
func UnzipTree(r io.ReaderAt, size int64, limits Limits) (MemoryTree, error) {
	limits = limits.withDefaults()
	zr, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are checked below, with clearer errors
		return nil, parse.Problem{Message: "this is not a zip archive, or it is damaged (" + err.Error() + ")"}
	}
	u := &unzipper{
		limits: limits, files: MemoryTree{}, names: map[string]string{}, folders: map[string]bool{},
	}
	if len(zr.File) > 4*limits.MaxFiles {
		return nil, parse.Problem{Message: fmt.Sprintf("the zip has %d entries; at most %d files are allowed", len(zr.File), limits.MaxFiles)}
	}
	for _, f := range zr.File {
		if err := u.unpackEntry(f); err != nil {
			return nil, err
		}
	}
	return u.files, nil
}

func (u *unzipper) unpackEntry(f *zip.File) error {
	name := strings.TrimSuffix(f.Name, "/")
	refuse := func(format string, args ...any) error {
		return parse.Problem{File: PrintableName(f.Name), Message: fmt.Sprintf(format, args...)}
	}
	if why := RefusedName(name); why != "" {
		return refuse("%s", why)
	}
	mode := f.Mode()
	switch {
	case mode&fs.ModeSymlink != 0:
		return refuse("is a symbolic link; put the file itself into the zip")
	case strings.HasSuffix(f.Name, "/") || mode.IsDir():
		return u.claimPath(name, true)
	case !mode.IsRegular():
		return refuse("is neither a file nor a folder (%s)", mode.Type())
	case isArchiverFile(name):
		return nil
	case f.Flags&1 != 0:
		return refuse("is encrypted")
	case len(u.files) >= u.limits.MaxFiles:
		return refuse("is one file too many: at most %d are allowed", u.limits.MaxFiles)
	}
	if err := u.claimPath(name, false); err != nil {
		return err
	}
	data, err := u.unpack(f)
	if err != nil {
		return refuse("%v", err)
	}
	u.files[name] = data
	return nil
}

// claimPath refuses a path that exists already, also with other capitalization, or that is both a file and a folder.
func (u *unzipper) claimPath(name string, isFolder bool) error {
	if parent := path.Dir(name); parent != "." {
		if err := u.claimPath(parent, true); err != nil {
			return err
		}
	}
	key := FoldCase(name)
	first, taken := u.names[key]
	switch {
	case taken && isFolder && u.folders[key] && first == name:
		return nil
	case taken && first == name:
		return parse.Problem{File: name, Message: "is in the zip twice"}
	case taken:
		return parse.Problem{File: name, Message: fmt.Sprintf("differs from %q only in upper and lower case", first)}
	}
	u.names[key], u.folders[key] = name, isFolder
	return nil
}

// unpack reads one entry and counts its bytes, without trusting the declared size.
func (u *unzipper) unpack(f *zip.File) ([]byte, error) {
	stream, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return nil, fmt.Errorf("is packed by a method that is not supported; use deflate")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot be unpacked: %w", err)
	}
	defer stream.Close()
	limit := min(u.limits.MaxFile, u.limits.MaxTotal-u.totalBytes)
	data, err := io.ReadAll(io.LimitReader(stream, limit+1))
	switch {
	case int64(len(data)) > u.limits.MaxFile:
		return nil, fmt.Errorf("is larger than %s unpacked", parse.SizeText(u.limits.MaxFile))
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("brings the files to more than %s unpacked", parse.SizeText(u.limits.MaxTotal))
	case err != nil:
		return nil, fmt.Errorf("cannot be unpacked: %w", err)
	}
	u.totalBytes += int64(len(data))
	return data, nil
}

// isArchiverFile reports whether a file is one that archivers and version control add, and that no task needs.
func isArchiverFile(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	base := path.Base(name)
	return first == "__MACOSX" || base == ".DS_Store" || base == "Thumbs.db" || strings.Contains("/"+name, "/.git/")
}

// PrintableName makes an untrusted name safe to show.
func PrintableName(name string) string {
	quoted := fmt.Sprintf("%+q", name)
	if bare := strings.Trim(quoted, `"`); bare == name {
		return name
	}
	if len(quoted) > maxPathBytes {
		return quoted[:maxPathBytes] + "…"
	}
	return quoted
}
