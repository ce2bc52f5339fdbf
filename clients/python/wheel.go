package python

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

//go:embed LICENSE README.md pyproject.toml warpboard/*.py warpboard/py.typed kernel_eval_client/*.py io_contract/*.py shared/*.py
var moduleFiles embed.FS

// Wheel is a built package for pip.
type Wheel struct {
	ProjectName    string // name of the project
	Version        string
	RequiresPython string // required Python versions
	FileName       string // file name
	Content        []byte
}

// project has the fields of pyproject.toml for a wheel.
type project struct {
	Name, Description string
	RequiresPython    string `toml:"requires-python"`
	License           struct{ Text string }
	Authors           []struct{ Name string }
	Keywords          []string
	Classifiers       []string
	Scripts           map[string]string
}

var (
	versionPattern  = regexp.MustCompile(`__version__ = "([0-9.]+)"`)
	earliestZipTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC) // the earliest date that a zip archive can store
)

// Build builds the wheel of the embedded client.
func Build() (*Wheel, error) {
	var about struct{ Project project }
	settings, err := moduleFiles.ReadFile("pyproject.toml")
	if err == nil {
		err = toml.Unmarshal(settings, &about)
	}
	if err != nil {
		return nil, fmt.Errorf("read pyproject.toml: %w", err)
	}
	text, err := moduleFiles.ReadFile("warpboard/version.py")
	if err != nil {
		return nil, err
	}
	version := versionPattern.FindSubmatch(text)
	if version == nil {
		return nil, errors.New("warpboard/version.py has no __version__")
	}
	p := about.Project
	w := &Wheel{ProjectName: p.Name, Version: string(version[1]), RequiresPython: p.RequiresPython}
	w.FileName = fmt.Sprintf("%s-%s-py3-none-any.whl", w.ProjectName, w.Version)
	w.Content, err = p.archive(fmt.Sprintf("%s-%s.dist-info/", w.ProjectName, w.Version), w.Version)
	return w, err
}

// archive returns the zip: modules, metadata, and the list of all files at the end.
func (p project) archive(info, version string) ([]byte, error) {
	var out, record bytes.Buffer
	archive := zip.NewWriter(&out)
	add := func(name string, data []byte) error {
		w, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store, Modified: earliestZipTime})
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(data))
		_, err = w.Write(data)
		return err
	}
	if err := addModules(add); err != nil {
		return nil, err
	}
	license, err := moduleFiles.ReadFile("LICENSE")
	if err != nil {
		return nil, err
	}
	readme, err := moduleFiles.ReadFile("README.md")
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		add(info+"LICENSE", license),
		add(info+"METADATA", p.metadata(version, string(readme))),
		add(info+"WHEEL", []byte("Wheel-Version: 1.0\nGenerator: warpboard\nRoot-Is-Purelib: true\nTag: py3-none-any\n")),
		add(info+"entry_points.txt", p.scripts()))
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	err = errors.Join(add(info+"RECORD", bytes.Clone(record.Bytes())), archive.Close())
	return out.Bytes(), err
}

// addModules adds the Python files of all packages.
func addModules(add func(string, []byte) error) error {
	return fs.WalkDir(moduleFiles, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Dir(name) == "." || path.Ext(name) != ".py" && path.Base(name) != "py.typed" {
			return err
		}
		data, err := moduleFiles.ReadFile(name)
		if err != nil {
			return err
		}
		return add(name, data)
	})
}

// metadata returns the core metadata of the package, with readme as its description.
func (p project) metadata(version, readme string) []byte {
	lines := []string{"Metadata-Version: 2.1", "Name: " + p.Name, "Version: " + version, "Summary: " + p.Description}
	for _, author := range p.Authors {
		lines = append(lines, "Author: "+author.Name)
	}
	lines = append(lines, "License: "+p.License.Text, "License-File: LICENSE", "Keywords: "+strings.Join(p.Keywords, ","))
	for _, classifier := range p.Classifiers {
		lines = append(lines, "Classifier: "+classifier)
	}
	lines = append(lines, "Requires-Python: "+p.RequiresPython, "Description-Content-Type: text/markdown", "", readme)
	return []byte(strings.Join(lines, "\n"))
}

func (p project) scripts() []byte {
	text := "[console_scripts]\n"
	for _, name := range slices.Sorted(maps.Keys(p.Scripts)) {
		text += fmt.Sprintf("%s = %s\n", name, p.Scripts[name])
	}
	return []byte(text)
}
