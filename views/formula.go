package views

import (
	"crypto/rand"
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"
	"github.com/dop251/goja"
	"github.com/yuin/goldmark/ast"
)

// Limits of the formulas of one description; formulas beyond them are shown as LaTeX.
const (
	maxFormulas     = 200
	maxFormulaBytes = 2000        // bytes
	formulaTimeout  = time.Second // for all formulas together; one takes about 1 ms
)

// formula is a node with a LaTeX formula.
type formula struct {
	ast.CodeSpan
	isOnOwnLine  bool   // on a line of its own
	insertedHTML string // placeholder for the MathML, from formulaSet.addFormula
}

var formulaNodeKind = ast.NewNodeKind("Formula")

// Kind returns the kind of a formula node.
func (*formula) Kind() ast.NodeKind { return formulaNodeKind }

// texToMath returns temml, a library that converts LaTeX to MathML.
var texToMath = sync.OnceValues(func() (*temml, error) {
	vm := goja.New()
	vm.SetMaxCallStackSize(1000)
	if _, err := vm.RunScript("temml.js", temmlSource); err != nil {
		return nil, fmt.Errorf("temml: %w", err)
	}
	render, err := vm.RunString(`(tex, display) => temml.renderToString(tex,
		{displayMode: display, throwOnError: true, trust: false, maxExpand: 100, maxSize: [20, 20]})`)
	if err != nil {
		return nil, fmt.Errorf("temml: %w", err)
	}
	call, _ := goja.AssertFunction(render)
	return &temml{vm: vm, renderFunction: call}, nil
})

//go:embed temml.min.js
var temmlSource string

type temml struct {
	mu             sync.Mutex // vm allows only one call at a time
	vm             *goja.Runtime
	renderFunction goja.Callable
}

// presentationAttributes matches the style and class attributes in temml's MathML. They are removed, because the site's
// stylesheet contains the same rules.
var presentationAttributes = regexp.MustCompile(` (?:style|class)="[^"]*"`)

// mathML converts a formula to MathML, and returns the time it took, without the time of waiting for other
// descriptions. It returns an error if temml does not accept the LaTeX or takes longer than limit.
func (t *temml) mathML(tex string, display bool, limit time.Duration) (string, time.Duration, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	start := time.Now()
	timer := time.AfterFunc(limit, func() { t.vm.Interrupt("too slow") })
	html, err := t.renderFunction(goja.Undefined(), t.vm.ToValue(tex), t.vm.ToValue(display))
	timer.Stop()
	t.vm.ClearInterrupt()
	if err != nil {
		return "", time.Since(start), err
	}
	return presentationAttributes.ReplaceAllString(html.String(), ""), time.Since(start), nil
}

// formulaSet collects the formulas of one description while the description is converted to HTML. The HTML has a
// placeholder for each formula, because the MathML of temml is trusted and must not pass the filter for untrusted HTML.
type formulaSet struct {
	placeholderPrefix string // random, so that no text can contain it
	formulas          []string
	renderTime        time.Duration
	outputBytes       int
}

func newFormulaSet() *formulaSet { return &formulaSet{placeholderPrefix: "formula" + rand.Text()} }

// addFormula converts a formula and returns its placeholder. If the formula cannot be converted, it returns the LaTeX
// as an HTML code element.
func (m *formulaSet) addFormula(tex string, display bool) string {
	code := "<code>" + templ.EscapeString(tex) + "</code>"
	if len(m.formulas) == maxFormulas || len(tex) > maxFormulaBytes || m.renderTime >= formulaTimeout {
		return code
	}
	renderer, err := texToMath()
	if err != nil {
		return code
	}
	html, took, err := renderer.mathML(tex, display, formulaTimeout-m.renderTime)
	m.renderTime += took
	if m.outputBytes += len(html); err != nil || m.outputBytes > maxHTMLBytes {
		return code
	}
	m.formulas = append(m.formulas, html)
	return fmt.Sprintf("%s.%d.", m.placeholderPrefix, len(m.formulas)-1)
}

// insertFormulas replaces the placeholders in html by MathML.
func (m *formulaSet) insertFormulas(html string) string {
	if len(m.formulas) == 0 {
		return html
	}
	var pairs []string
	for i, math := range m.formulas {
		pairs = append(pairs, fmt.Sprintf("%s.%d.", m.placeholderPrefix, i), math)
	}
	return strings.NewReplacer(pairs...).Replace(html)
}
