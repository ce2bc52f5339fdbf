package views

import (
	"bytes"
	"errors"
	"regexp"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Limits of one description, because goldmark's time grows at least with the square of each of these sizes. A
// description beyond a limit is shown as plain text.
const (
	maxDescriptionBytes = 32 << 10  // bytes
	maxHTMLBytes        = 256 << 10 // bytes of HTML output; references can repeat long addresses
	maxBlockNesting     = 20        // nesting of lists and quotes; a list counts twice
	maxInlineMarks      = 250       // links, emphasis, and so on, in one paragraph or cell
	maxTableCells       = 10_000    // cells of all tables; a short row counts like the header
	maxHTMLGrowth       = 20        // bytes of HTML per character of a comment
)

// boundedParser returns the goldmark parser for GitHub Markdown with limits.
func boundedParser() parser.Parser {
	blocks, inlines := parser.DefaultBlockParsers(), append(parser.DefaultInlineParsers(),
		util.Prioritized(extension.NewTaskCheckBoxParser(), 0), util.Prioritized(extension.NewStrikethroughParser(), 500), util.Prioritized(lineLinkParser{}, 600), util.Prioritized(formulaParser{}, 50))
	for i, block := range blocks {
		blocks[i].Value = nestingLimiter{block.Value.(parser.BlockParser)}
	}
	for i, inline := range inlines {
		inlines[i].Value = markLimiter{inline.Value.(parser.InlineParser)}
	}
	inlines = append(inlines, util.Prioritized(extension.NewLinkifyParser(), 999))
	return parser.NewParser(parser.WithBlockParsers(blocks...), parser.WithInlineParsers(inlines...),
		parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(), util.Prioritized(tableCellLimiter{extension.NewTableParagraphTransformer()}, 200))...),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)))
}

// nestingLimiter limits the nesting of blocks.
type nestingLimiter struct{ parser.BlockParser }

// Open starts a block as the wrapped parser does, up to a depth of maxBlockNesting.
func (b nestingLimiter) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	node, state := b.BlockParser.Open(parent, reader, pc)
	if node == nil || state&parser.HasChildren == 0 {
		return node, state
	}
	depth := 0
	for ; parent != nil; parent = parent.Parent() {
		depth++
	}
	if depth > maxBlockNesting {
		return nil, parser.NoChildren
	}
	return node, state
}

// markLimiter limits the number of marks in a block, all kinds together.
type markLimiter struct{ parser.InlineParser }

// markCount counts the marks of the current block.
type markCount struct {
	block ast.Node
	count int
}

// Parse parses an inline element (a mark), such as a link or emphasis, as the wrapped parser does. After maxInlineMarks
// calls in the same block, counted over all inline parsers, it returns nil, so the rest of the block is plain text.
func (m markLimiter) Parse(block ast.Node, reader text.Reader, pc parser.Context) ast.Node {
	seen, _ := pc.Get(markCountKey).(*markCount)
	if seen == nil || seen.block != block {
		seen = &markCount{block: block}
		pc.Set(markCountKey, seen)
	}
	if seen.count++; seen.count > maxInlineMarks {
		return nil
	}
	return m.InlineParser.Parse(block, reader, pc)
}

// CloseBlock ends a block.
func (m markLimiter) CloseBlock(block ast.Node, reader text.Reader, pc parser.Context) {
	if closer, ok := m.InlineParser.(parser.CloseBlocker); ok {
		closer.CloseBlock(block, reader, pc)
	}
}

// tableCellLimiter limits the cells of tables.
type tableCellLimiter struct{ parser.ParagraphTransformer }

// Transform converts a paragraph to a table if it is one.
func (s tableCellLimiter) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	columns := 0
	for i := range node.Lines().Len() {
		line := node.Lines().At(i)
		columns = max(columns, bytes.Count(line.Value(reader.Source()), []byte("|"))+1)
	}
	cells, _ := pc.Get(tableCellCountKey).(int)
	if cells += columns * node.Lines().Len(); columns == 1 || cells > maxTableCells {
		return
	}
	pc.Set(tableCellCountKey, cells)
	s.ParagraphTransformer.Transform(node, reader, pc)
}

// lineLinkParser converts #L12 and #L12-L20 to links to lines of a source, the latter to its first line.
type lineLinkParser struct{}

var lineFragment = regexp.MustCompile(`^#(L[1-9][0-9]{0,5})(-L[1-9][0-9]{0,5})?`)

// Trigger returns the first character of a reference such as #L12.
func (lineLinkParser) Trigger() []byte { return []byte{'#'} }

// Parse converts a reference such as #L12 to a link, if the text at the reader's position is one.
func (lineLinkParser) Parse(_ ast.Node, reader text.Reader, pc parser.Context) ast.Node {
	to, _ := pc.Get(lineCountKey).(string)
	line, segment := reader.PeekLine()
	found := lineFragment.FindSubmatch(line)
	if to == "" || found == nil || isWordRune(reader.PrecendingCharacter()) || len(line) > len(found[0]) && isWordRune(rune(line[len(found[0])])) {
		return nil
	}
	link := ast.NewLink()
	link.Destination = []byte(to + "#" + string(found[1]))
	link.AppendChild(link, ast.NewTextSegment(segment.WithStop(segment.Start+len(found[0]))))
	reader.Advance(len(found[0]))
	return link
}

func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

var markCountKey, tableCellCountKey, lineCountKey = parser.NewContextKey(), parser.NewContextKey(),
	parser.NewContextKey()

var errTextTooLong = errors.New("the text becomes too long")

// limitedHTMLBuffer limits the size of HTML.
type limitedHTMLBuffer struct{ bytes.Buffer }

// Write appends to the buffer, up to its limit.
func (b *limitedHTMLBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxHTMLBytes {
		return 0, errTextTooLong
	}
	return b.Buffer.Write(p)
}
