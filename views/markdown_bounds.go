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

// Bounds of one description. goldmark's time grows with the square of each of these, or worse; a description above them is
// shown as plain text.
const (
	mostDescription = 32 << 10  // bytes
	mostHTML        = 256 << 10 // bytes that they become: a reference may repeat a long address
	mostNesting     = 20        // lists and quotes in each other; a list counts twice
	mostMarks       = 250       // of links, emphasis and so on, in one paragraph or cell
	mostCells       = 10_000    // of tables: a short row is filled up to the width of its header
	mostGrowth      = 20        // of a comment, in bytes of HTML for each of its characters
)

// boundedParser is goldmark's parser of GitHub's Markdown, within these bounds.
func boundedParser() parser.Parser {
	blocks, inlines := parser.DefaultBlockParsers(), append(parser.DefaultInlineParsers(),
		util.Prioritized(extension.NewTaskCheckBoxParser(), 0), util.Prioritized(extension.NewStrikethroughParser(), 500), util.Prioritized(lineLinks{}, 600), util.Prioritized(formulas{}, 50))
	for i, block := range blocks {
		blocks[i].Value = nestedBlocks{block.Value.(parser.BlockParser)}
	}
	for i, inline := range inlines {
		inlines[i].Value = countedMarks{inline.Value.(parser.InlineParser)}
	}
	inlines = append(inlines, util.Prioritized(extension.NewLinkifyParser(), 999))
	return parser.NewParser(parser.WithBlockParsers(blocks...), parser.WithInlineParsers(inlines...),
		parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(), util.Prioritized(smallTables{extension.NewTableParagraphTransformer()}, 200))...),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)))
}

// nestedBlocks opens no block that lies too deep.
type nestedBlocks struct{ parser.BlockParser }

// Open begins a block.
func (b nestedBlocks) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	node, state := b.BlockParser.Open(parent, reader, pc)
	if node == nil || state&parser.HasChildren == 0 {
		return node, state
	}
	depth := 0
	for ; parent != nil; parent = parent.Parent() {
		depth++
	}
	if depth > mostNesting {
		return nil, parser.NoChildren
	}
	return node, state
}

// countedMarks are marks of one kind; all kinds count together.
type countedMarks struct{ parser.InlineParser }

// marks are those of the block that is being read.
type marks struct {
	block ast.Node
	count int
}

// Parse reads a mark.
func (m countedMarks) Parse(block ast.Node, reader text.Reader, pc parser.Context) ast.Node {
	seen, _ := pc.Get(marksKey).(*marks)
	if seen == nil || seen.block != block {
		seen = &marks{block: block}
		pc.Set(marksKey, seen)
	}
	if seen.count++; seen.count > mostMarks {
		return nil
	}
	return m.InlineParser.Parse(block, reader, pc)
}

// CloseBlock ends a block.
func (m countedMarks) CloseBlock(block ast.Node, reader text.Reader, pc parser.Context) {
	if closer, ok := m.InlineParser.(parser.CloseBlocker); ok {
		closer.CloseBlock(block, reader, pc)
	}
}

// smallTables makes tables while there is room for cells.
type smallTables struct{ parser.ParagraphTransformer }

// Transform makes a table of a paragraph that is one.
func (s smallTables) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	columns := 0
	for i := range node.Lines().Len() {
		line := node.Lines().At(i)
		columns = max(columns, bytes.Count(line.Value(reader.Source()), []byte("|"))+1)
	}
	cells, _ := pc.Get(cellsKey).(int)
	if cells += columns * node.Lines().Len(); columns == 1 || cells > mostCells {
		return
	}
	pc.Set(cellsKey, cells)
	s.ParagraphTransformer.Transform(node, reader, pc)
}

// lineLinks make links to lines of a source: #L12, or #L12-L20, which leads to its first line.
type lineLinks struct{}

var lineReference = regexp.MustCompile(`^#(L[1-9][0-9]{0,5})(-L[1-9][0-9]{0,5})?`)

// Trigger begins a reference.
func (lineLinks) Trigger() []byte { return []byte{'#'} }

// Parse reads a reference.
func (lineLinks) Parse(_ ast.Node, reader text.Reader, pc parser.Context) ast.Node {
	to, _ := pc.Get(linesKey).(string)
	line, segment := reader.PeekLine()
	found := lineReference.FindSubmatch(line)
	if to == "" || found == nil || isWord(reader.PrecendingCharacter()) || len(line) > len(found[0]) && isWord(rune(line[len(found[0])])) {
		return nil
	}
	link := ast.NewLink()
	link.Destination = []byte(to + "#" + string(found[1]))
	link.AppendChild(link, ast.NewTextSegment(segment.WithStop(segment.Start+len(found[0]))))
	reader.Advance(len(found[0]))
	return link
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

var marksKey, cellsKey, linesKey = parser.NewContextKey(), parser.NewContextKey(), parser.NewContextKey()

var errTooLong = errors.New("the text becomes too long")

// boundedBuffer takes a bounded amount of HTML.
type boundedBuffer struct{ bytes.Buffer }

// Write adds to it.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > mostHTML {
		return 0, errTooLong
	}
	return b.Buffer.Write(p)
}
