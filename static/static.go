package static

import (
	"embed"
	"io/fs"
	"strings"
)

// The files are built by `npm run build` and committed, so that go build works without node.
//
//go:embed *.js *.css figtree.woff2 favicon.svg card.png icon.png LICENSES.txt
var files embed.FS

//go:embed version.txt
var filesVersion string

// Files returns the embedded files by name: app.css, site.js, htmx.js, editor.js …
func Files() fs.FS { return files }

// Version returns a hash of the contents of all files, 12 hex digits.
func Version() string { return strings.TrimSpace(filesVersion) }

// Prefix returns the URL path of this version of the files, with slashes at both ends. Files below it never change, so
// browsers may cache them forever.
func Prefix() string { return "/static/" + Version() + "/" }

// URL returns the address of a file by its name: "app.css" → "/static/1f3a…/app.css".
func URL(name string) string { return Prefix() + name }
