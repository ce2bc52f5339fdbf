package site

import "strings"

// addressAttributes are the attributes whose value is an address, next to all of htmx. Those of data- are read by
// scripts. A page with an address from the root in any other attribute fails the test that follows all links below a
// path.
var addressAttributes = map[string]bool{
	"href": true, "src": true, "action": true, "formaction": true, "poster": true, "cite": true,
	"data-root": true, "data-palette": true, "data-editor": true, "data-module": true, "data-perfetto": true,
	"data-check": true, "data-preview": true, "data-versions": true,
}

// HTML puts the path before every address from the root in a page or a part of one. It does not parse HTML and replaces
// attribute="/… only. Text cannot look like that: templ, the sanitizer of Markdown and the colouring of sources escape
// its quotes. An address that begins with two slashes names another host.
func (p Path) HTML(page string) string {
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

// isAddress reports whether the tag so far ends with the name of such an attribute.
func isAddress(tag string) bool {
	name := tag[strings.LastIndexFunc(tag, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '"' })+1:]
	return addressAttributes[name] || strings.HasPrefix(name, "hx-")
}
