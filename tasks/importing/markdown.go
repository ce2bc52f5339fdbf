package importing

import (
	"bytes"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// markdown converts an HTML fragment to Markdown, with formulas between dollar signs. Drawings are omitted and counted.
func markdown(page []byte) (text string, drawings int) {
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return string(page), 0
	}
	var w markdownWriter
	w.children(root)
	return w.out.String(), w.drawingCount
}

type markdownWriter struct {
	out          strings.Builder
	drawingCount int
	listMarks    []string // the marks of the lists around the current node
	verbatim     bool
	rowCount     int // written rows of the current table
	column       int // column in the current row
}

func (w *markdownWriter) children(n *html.Node) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		w.node(child)
	}
}

// writeBetween writes the text of a node between two marks.
func (w *markdownWriter) writeBetween(before string, n *html.Node, after string) {
	w.out.WriteString(before)
	w.children(n)
	w.out.WriteString(after)
}

var (
	inlineFormula = regexp.MustCompile(`\\\(\s*(.*?)\s*\\\)`)
	formulas      = strings.NewReplacer(`\[`, "\n\n$$\n", `\]`, "\n$$\n\n")
)

func (w *markdownWriter) node(n *html.Node) {
	if n.Type == html.TextNode {
		w.text(n.Data)
		return
	}
	switch n.DataAtom {
	case atom.Svg, atom.Img:
		w.drawingCount++
	case atom.Style, atom.Script, atom.Head:
	case atom.Table:
		w.rowCount = 0
		w.writeBetween("\n\n", n, "\n\n")
	case atom.P, atom.Div:
		w.writeBetween("\n\n", n, "\n\n")
	case atom.H1, atom.H2, atom.H3, atom.H4:
		w.writeBetween("\n\n### ", n, "\n\n")
	case atom.Br:
		w.text("\n\n")
	case atom.Strong, atom.B:
		w.writeBetween("**", n, "**")
	case atom.Em, atom.I:
		w.writeBetween("*", n, "*")
	case atom.Sup:
		w.writeBetween("^", n, "")
	case atom.Sub:
		w.writeBetween("_", n, "")
	case atom.Code:
		if w.verbatim {
			w.children(n)
			return
		}
		w.verbatim = true
		w.writeBetween("`", n, "`")
		w.verbatim = false
	case atom.Pre:
		w.verbatim = true
		w.writeBetween("\n\n```\n", n, "\n```\n\n")
		w.verbatim = false
	case atom.Ul, atom.Ol:
		w.listMarks = append(w.listMarks, map[atom.Atom]string{atom.Ul: "- ", atom.Ol: "1. "}[n.DataAtom])
		w.writeBetween("\n\n", n, "\n\n")
		w.listMarks = w.listMarks[:len(w.listMarks)-1]
	case atom.Li:
		mark := "- "
		if len(w.listMarks) > 0 {
			mark = strings.Repeat("   ", min(len(w.listMarks)-1, 8)) + w.listMarks[len(w.listMarks)-1]
		}
		w.writeBetween("\n"+mark, n, "")
	case atom.Tr:
		w.row(n)
	case atom.Td, atom.Th:
		w.column++
		w.writeBetween("| ", n, " ")
	default:
		w.children(n)
	}
}

// row writes a row of a table; the first row of a table is its header.
func (w *markdownWriter) row(n *html.Node) {
	w.column = 0
	w.writeBetween("\n", n, "|")
	if w.rowCount++; w.rowCount == 1 {
		w.out.WriteString("\n" + strings.Repeat("|---", w.column) + "|")
	}
	w.column = 0
}

func (w *markdownWriter) text(text string) {
	if w.verbatim {
		w.out.WriteString(strings.Trim(text, "\n"))
		return
	}
	// Markdown would show an indented line as code, and the lines of one formula must stay together.
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i > 0 || strings.TrimSpace(line) == "" {
			line = strings.TrimLeft(line, " \t")
		}
		lines[i] = line
	}
	text = strings.Join(lines, "\n")
	if len(w.listMarks) > 0 || w.column > 0 {
		text = strings.ReplaceAll(text, "\n", " ")
	}
	w.out.WriteString(formulas.Replace(inlineFormula.ReplaceAllString(text, "$$${1}$$")))
}
