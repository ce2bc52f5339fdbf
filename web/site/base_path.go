package site

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
)

// BasePath is the path of the site on its host, such as "/warpboard", or "" for the root.
//
// Handlers, routes, and templates do not depend on it: they use paths from the site's root, such as "/tasks/softmax".
// Handler removes the site's path from requests and adds it to redirects; RewriteHTML adds it to pages. At the root of
// a host both do nothing.
type BasePath string

// basePathPattern matches paths that need no escaping in a header, a cookie, HTML, or a script.
var basePathPattern = regexp.MustCompile(`^(/[A-Za-z0-9._~-]*[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$`)

// ParseAddress parses the public URL of a site and returns the path in it. The error text continues a sentence.
func ParseAddress(text string) (*url.URL, BasePath, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, "", errors.New("want http://host or https://host, with a path where the site is not alone there, like https://lab.example.org/warpboard")
	}
	if u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#") {
		return nil, "", errors.New("the site's address ends with its path: leave out what follows ? or #")
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	if !basePathPattern.MatchString(path) {
		return nil, "", errors.New("want a path of letters, digits, -, _, . and ~ between single slashes, like https://lab.example.org/warpboard")
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}, BasePath(path), nil
}

// Cookies returns the Path attribute for the site's cookies. It has no trailing slash, so that it also covers the
// site's path without one.
func (p BasePath) Cookies() string {
	if p == "" {
		return "/"
	}
	return string(p)
}
