package signin

import (
	"net/url"
	"strings"
)

// SafeNext returns where to go after signing in: the wanted address if it is a path on this site,
// "/" otherwise. Browsers read "//host", "/\host" and tabs inside a URL as another site; those are refused.
func SafeNext(wanted string) string {
	if !strings.HasPrefix(wanted, "/") || len(wanted) > 1024 {
		return "/"
	}
	for _, r := range wanted {
		if r == '\\' || r < ' ' || r == 0x7f {
			return "/"
		}
	}
	u, err := url.Parse(wanted)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil {
		return "/"
	}
	if strings.HasPrefix(wanted, "//") || strings.HasPrefix(u.Path, "//") || strings.Contains(u.Path, "\\") {
		return "/"
	}
	return wanted
}
