package site

import "strings"

// addressAttributes lists the HTML attributes that contain a URL, apart from those of htmx. Scripts read the data-
// attributes. A test that follows all links of a site below a path fails if another attribute contains a path.
var addressAttributes = map[string]bool{
	"href": true, "src": true, "action": true, "formaction": true, "poster": true, "cite": true,
	"data-root": true, "data-palette": true, "data-editor": true, "data-module": true, "data-perfetto": true,
	"data-check": true, "data-preview": true, "data-versions": true,
}

// RewriteHTML inserts the site's path into every root-relative URL of a page or fragment. It does not parse HTML but
// replaces attribute="/…, which cannot occur in text, because templ, the Markdown sanitizer, and the source highlighter
// escape quotes. A URL that begins with two slashes names another host and stays unchanged.
func (p BasePath) RewriteHTML(page string) string {
	if p == "" {
		return page
	}
	var out strings.Builder
	for {
		at := strings.Index(page, `="/`)
		if at < 0 {
			out.WriteString(page)
			return out.String()
		}
		quoted := at + len(`="`)
		out.WriteString(page[:quoted])
		if isAddress(page[:at]) && !strings.HasPrefix(page[quoted:], "//") {
			out.WriteString(string(p))
		}
		out.WriteByte('/')
		page = page[quoted+1:]
	}
}

// isAddress reports whether tag, an HTML tag up to an equals sign, ends with the name of an attribute that contains a
// URL.
func isAddress(tag string) bool {
	name := tag[strings.LastIndexFunc(tag, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '"' })+1:]
	return addressAttributes[name] || strings.HasPrefix(name, "hx-")
}
