package inplace

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// scalar writes a text in a style in one line; a list's items keep clear of its commas and brackets.
func scalar(text string, style yaml.Style, inList bool) string {
	node := &yaml.Node{Kind: yaml.ScalarNode, Value: text, Style: style}
	if style != 0 {
		node.Tag = "!!str"
	} else if inList && strings.ContainsAny(text, ",[]{}") {
		return scalar(text, yaml.DoubleQuotedStyle, inList)
	}
	out, err := yaml.Marshal(node)
	if err != nil { // nothing that a form can hold
		return ""
	}
	return strings.TrimSuffix(string(out), "\n")
}

// styles are those to try, the author's first.
func (v Value) styles(was yaml.Style) []yaml.Style {
	if v.Bare {
		return []yaml.Style{0}
	}
	was &= yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle
	return slices.Compact([]yaml.Style{was, yaml.DoubleQuotedStyle})
}

// fresh are the ways to write a value where none was.
func (v Value) fresh() (ways []string) {
	for _, style := range v.styles(0) {
		if v.List == nil {
			ways = append(ways, scalar(v.Text, style, false))
			continue
		}
		var items []string
		for _, text := range v.List {
			items = append(items, scalar(text, style, true))
		}
		ways = append(ways, "["+strings.Join(items, ", ")+"]")
	}
	return ways
}

// added are the texts with a new key: after the nearest key that comes before it in order, else before all others, else at
// the end.
func (d document) added(key string, value Value, order []string) (texts [][]byte) {
	at := d.place(key, order)
	end := lineEnd(d.text)
	for _, way := range value.fresh() {
		line := key + ": " + way + end
		for _, at := range []int{at, len(d.text)} {
			before := ""
			if at > 0 && d.text[at-1] != '\n' {
				before = end
			}
			texts = append(texts, splice(d.text, at, at, before+line))
		}
	}
	return texts
}

// place is where a new key goes: comments above the next key stay with that.
func (d document) place(key string, order []string) int {
	known := slices.Index(order, key)
	for before := known - 1; before >= 0; before-- {
		at := d.find(order[before])
		if at < 0 {
			continue
		}
		end := len(d.text)
		if at+2 < len(d.root.Content) {
			end = d.start(d.root.Content[at+2])
		}
		for from := d.start(d.root.Content[at]); end > from; {
			line := d.lineOf(end - 1)
			if text := strings.TrimRight(string(d.text[line:end]), "\r\n"); line <= from || text != "" && text[0] != '#' {
				break
			}
			end = line
		}
		return end
	}
	if len(d.root.Content) == 0 {
		return len(d.text)
	}
	return d.lineOf(d.start(d.root.Content[0]))
}

// changed are the texts with another value for the key at a place of the root's content.
func (d document) changed(at int, value Value) (texts [][]byte) {
	key, node := d.root.Content[at], d.root.Content[at+1]
	if node.Kind == yaml.SequenceNode && node.Style&yaml.FlowStyle == 0 {
		return d.changedLines(key, node, value)
	}
	from := d.start(node)
	end, ok := d.end(node)
	if node.Tag == "!!null" && node.Value == "" { // key: with nothing after it
		colon, _ := d.end(key)
		from, end, ok = colon+1, colon+1, colon < len(d.text) && d.text[colon] == ':'
	}
	if !ok {
		return nil
	}
	if value.empty() {
		return [][]byte{splice(d.text, d.lineOf(d.start(key)), d.nextLine(end), "")}
	}
	gap := ""
	if from == end {
		gap = " "
	}
	if value.List != nil && node.Kind == yaml.SequenceNode {
		return [][]byte{splice(d.text, from, end, d.list(node, value.List))}
	}
	ways := value.fresh()
	if value.List == nil {
		ways = nil
		for _, style := range value.styles(node.Style) {
			ways = append(ways, scalar(value.Text, style, false))
		}
	}
	for _, way := range ways {
		texts = append(texts, splice(d.text, from, end, gap+way))
	}
	return texts
}

// list writes a list in brackets: what was in it stays as it was written.
func (d document) list(was *yaml.Node, wanted []string) string {
	items := make([]string, len(wanted))
	for i, text := range wanted {
		items[i] = d.item(was, text)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

func (d document) item(was *yaml.Node, text string) string {
	style := yaml.Style(0)
	for _, item := range was.Content {
		if isText(item, text) { // first: an end is found by walking its line
			if end, ok := d.end(item); ok {
				return string(d.text[d.start(item):end])
			}
		}
		style = item.Style & (yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle)
	}
	if written := scalar(text, style, true); written != "" {
		var read yaml.Node
		if yaml.Unmarshal([]byte(written), &read) == nil && len(read.Content) == 1 && isText(read.Content[0], text) {
			return written
		}
	}
	return scalar(text, yaml.DoubleQuotedStyle, true)
}

// changedLines changes a list with a line for each item: lines of items that stay are not touched.
func (d document) changedLines(key, node *yaml.Node, value Value) [][]byte {
	last, ok := d.end(node.Content[len(node.Content)-1])
	if !ok || value.List == nil && !value.empty() {
		return nil
	}
	from := d.lineOf(d.start(node))
	if value.empty() {
		return [][]byte{splice(d.text, d.lineOf(d.start(key)), d.nextLine(last), "")}
	}
	indent := string(d.text[from:d.start(node)])
	if strings.Trim(indent, " ") != "" || node.Line == key.Line {
		return nil
	}
	var out strings.Builder
	out.Write(d.text[:from])
	copied, kept := from, 0
	for _, item := range node.Content { // in order: an item that is not the next one wanted goes
		end, ok := d.end(item)
		if !ok {
			return nil
		}
		line, next := d.lineOf(d.start(item)), d.nextLine(end)
		out.Write(d.text[copied:line])
		copied = next
		if kept < len(value.List) && slices.ContainsFunc(value.List[kept:], func(text string) bool { return isText(item, text) }) {
			for !isText(item, value.List[kept]) {
				out.WriteString(indent + "- " + d.item(node, value.List[kept]) + lineEnd(d.text))
				kept++
			}
			out.Write(d.text[line:next])
			kept++
		}
	}
	for _, text := range value.List[kept:] {
		if out.Len() > 0 && !strings.HasSuffix(out.String(), "\n") {
			out.WriteString(lineEnd(d.text))
		}
		out.WriteString(indent + "- " + d.item(node, text) + lineEnd(d.text))
	}
	out.Write(d.text[copied:])
	return [][]byte{[]byte(out.String())}
}
