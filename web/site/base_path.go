package site

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
)

// Path is the site's path on its host: "/warpboard", or empty at the root.
//
// Handlers, routes, and templates are independent of it: they write and read addresses from the site's own root,
// "/tasks/softmax". Requests lose the path before the first of them, and answers get it after the last. A site at the
// root of its host has no cost.
type Path string

// pathPattern is a path that needs no escaping in a header, a cookie, HTML or a script.
var pathPattern = regexp.MustCompile(`^(/[A-Za-z0-9._~-]*[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$`)

// ParseAddress reads the public address of a site, and the path in it. The error is the end of a sentence.
func ParseAddress(text string) (*url.URL, Path, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, "", errors.New("want http://host or https://host, with a path where the site is not alone there, like https://lab.example.org/warpboard")
	}
	if u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#") {
		return nil, "", errors.New("the site's address ends with its path: leave out what follows ? or #")
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	if !pathPattern.MatchString(path) {
		return nil, "", errors.New("want a path of letters, digits, -, _, . and ~ between single slashes, like https://lab.example.org/warpboard")
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}, Path(path), nil
}

// Cookies is the path that the site's cookies are for. It also fits the path without a slash at its end.
func (p Path) Cookies() string {
	if p == "" {
		return "/"
	}
	return string(p)
}
