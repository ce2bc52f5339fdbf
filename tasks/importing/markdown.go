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
	w.writeChildren(root)
	return w.output.String(), w.drawingCount
}

type markdownWriter struct {
	output         strings.Builder
	drawingCount   int
	listMarks      []string // "- " or "1. " for each list around the current node
	isPreformatted bool
	rowCount       int // rows of the current table written so far
	column         int // column in the current row
}

func (w *markdownWriter) writeChildren(n *html.Node) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		w.writeNode(child)
	}
}

// writeBetween writes before, the Markdown of the children of a node, and after.
func (w *markdownWriter) writeBetween(before string, n *html.Node, after string) {
	w.output.WriteString(before)
	w.writeChildren(n)
	w.output.WriteString(after)
}

var (
	inlineFormulaPattern = regexp.MustCompile(`\\\(\s*(.*?)\s*\\\)`)
	formulaReplacer      = strings.NewReplacer(`\[`, "\n\n$$\n", `\]`, "\n$$\n\n")
)

func (w *markdownWriter) writeNode(n *html.Node) {
	if n.Type == html.TextNode {
		w.writeText(n.Data)
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
		w.writeText("\n\n")
	case atom.Strong, atom.B:
		w.writeBetween("**", n, "**")
	case atom.Em, atom.I:
		w.writeBetween("*", n, "*")
	case atom.Sup:
		w.writeBetween("^", n, "")
	case atom.Sub:
		w.writeBetween("_", n, "")
	case atom.Code:
		if w.isPreformatted {
			w.writeChildren(n)
			return
		}
		w.isPreformatted = true
		w.writeBetween("`", n, "`")
		w.isPreformatted = false
	case atom.Pre:
		w.isPreformatted = true
		w.writeBetween("\n\n```\n", n, "\n```\n\n")
		w.isPreformatted = false
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
		w.writeTableRow(n)
	case atom.Td, atom.Th:
		w.column++
		w.writeBetween("| ", n, " ")
	default:
		w.writeChildren(n)
	}
}

// writeTableRow writes a row of a table; the first row of a table is its header.
func (w *markdownWriter) writeTableRow(n *html.Node) {
	w.column = 0
	w.writeBetween("\n", n, "|")
	if w.rowCount++; w.rowCount == 1 {
		w.output.WriteString("\n" + strings.Repeat("|---", w.column) + "|")
	}
	w.column = 0
}

func (w *markdownWriter) writeText(text string) {
	if w.isPreformatted {
		w.output.WriteString(strings.Trim(text, "\n"))
		return
	}
	// Remove indentation, which Markdown would show as code. The lines are joined again for formulas that span lines.
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
	w.output.WriteString(formulaReplacer.Replace(inlineFormulaPattern.ReplaceAllString(text, "$$${1}$$")))
}
