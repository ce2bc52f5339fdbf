package views

import (
	"fmt"
	"strings"
	"testing"

	"warpboard/e2e/costtest"
	"warpboard/e2e/fuzztest"
)

// described renders Markdown of the documentation to HTML.
func described(t *testing.T, source string) string {
	t.Helper()
	c, err := RenderDocumentation(source, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// filled repeats a text up to the maximum size of a description.
func filled(part string) string { return strings.Repeat(part, maxDescriptionBytes/len(part)) }

func growing(part string) string {
	var b strings.Builder
	for n := 1; b.Len() < maxDescriptionBytes; n++ {
		b.WriteString(strings.Repeat(part, n) + "a\n")
	}
	return b.String()[:maxDescriptionBytes]
}

func TestNoDescriptionCostsMoreThanARequestMay(t *testing.T) {
	columns := func(n int) string { return "|" + strings.Repeat("a|", n) + "\n|" + strings.Repeat("-|", n) + "\n" }
	const half = maxDescriptionBytes / 2
	for name, source := range map[string]string{
		"a table of 5,000 columns":      columns(5000) + strings.Repeat("|\n", 20_000),
		"many tables of 100 columns":    filled(columns(100) + strings.Repeat("|\n", 200) + "\n"),
		"a table of cells without text": "|" + strings.Repeat("|", half/2) + "\n|" + strings.Repeat("-|", half/2),
		"quotes in each other":          filled(">"),
		"quotes and lazy lines":         strings.Repeat(">", half) + "\n" + strings.Repeat("a\n", half/2),
		"lists in each other":           filled("- "),
		"lists and blank lines":         strings.Repeat("- ", half/2) + "a\n" + strings.Repeat("\n", half),
		"lists and lazy lines":          strings.Repeat("1. ", half/4) + "a\n" + strings.Repeat("a\n", half/4),
		"lists that grow":               growing("  ") + filled("- a\n"),
		"quotes that grow":              growing(">"),
		"code that grows":               growing("`"),
		"brackets":                      filled("["),
		"brackets that close":           strings.Repeat("[", half) + strings.Repeat("](a)", half/4),
		"emphasis in links":             filled("[*a]("),
		"emphasis":                      filled("a**b*c__d_"),
		"struck out":                    filled("~~a~a "),
		"references to a long address": "[a]: " + strings.Repeat("b", half) + "\n\n" +
			strings.Repeat("[a]", half/3),
		"references in paragraphs": "[a]: " + strings.Repeat("b", half) + "\n\n" +
			strings.Repeat("[a]\n\n", half/5),
		"comments":                          filled("<!--"),
		"tags":                              filled("<a x='"),
		"headings":                          filled("#\n"),
		"addresses":                         filled("http://a."),
		"formulas":                          filled("$a "),
		"formulas in formulas":              filled(`\begin{a}$$\(`),
		"folds":                             filled("<details><summary>"),
		"folds in paragraphs":               filled("a<details>"),
		"addresses between spaces":          filled("www.a(( "),
		"eight times as large as it may be": strings.Repeat("> - ", 4*half),
	} {
		if strings.Count(source, "> - ") < half {
			source = source[:min(len(source), maxDescriptionBytes)]
		}
		costtest.Check(t, name, func() {
			if html := described(t, source); len(html) > 4*maxHTMLBytes {
				t.Errorf("%s: %d bytes of HTML", name, len(html))
			}
		})
	}
}

func TestDescriptionsAboveTheBoundsStayReadable(t *testing.T) {
	row := "|" + strings.Repeat("a|", 20) + "\n"
	large := row + "|" + strings.Repeat("-|", 20) + "\n" + strings.Repeat(row, 400)
	if n := strings.Count(described(t, large), "<td"); n != 8000 {
		t.Errorf("a table of 8,000 cells has %d", n)
	}
	links := strings.Repeat("[a](https://a.example) ", 100)
	if n := strings.Count(described(t, links), "<a "); n != 100 {
		t.Errorf("a paragraph of 100 links has %d", n)
	}
	nested := ""
	for depth := range 8 {
		nested += strings.Repeat("  ", depth) + "- a\n"
	}
	if n := strings.Count(described(t, nested), "<li>"); n != 8 {
		t.Errorf("a list of 8 levels has %d", n)
	}
	for _, source := range []string{filled("<b> ") + "&", "[<]: " + strings.Repeat("b", 1000) + "\n\n" +
		strings.Repeat("[<]", 5000)} {
		html := described(t, source)
		if strings.Contains(html, "<b>") || !strings.Contains(html, "&lt;") {
			t.Errorf("%.20s… is shown as %.80s…", source, html)
		}
	}
}

func TestStatementsFromElsewhereStayReadable(t *testing.T) {
	for source, want := range map[string]string{
		`Compute $y_i = \frac{2 x_i}{1 + \epsilon}$ with $$\sum_{i=1}^{N} x_i^2$$.`: `<mfrac><mrow><mn>2</mn><msub><mi>x</mi><mi>i</mi></msub></mrow><mrow><mn>1</mn><mo>+</mo><mi>ϵ</mi></mrow></mfrac></mrow></math> with <math display="block">`,
		"$$\na_1 \\\\ b_2\n$$":                         `<p><math display="block"><mrow><msub><mi>a</mi>`,
		`\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}`: `<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr>`,
		`of \(a_1 * b_1\) and`:                         `of <math><mrow><msub><mi>a</mi><mn>1</mn></msub><mo>∗</mo>`,
		`\[a_1 * b_1\]`:                                `<p><math display="block"><mrow><msub><mi>a</mi><mn>1</mn></msub><mo>∗</mo>`,
		`a\[i\] stays`:                                 `<p>a[i] stays</p>`,
		`$5 and $6, $HOME/$PATH, a $ b $ c, \$x\$`:     `<p>$5 and $6, $HOME/$PATH, a $ b $ c, $x$</p>`,
		"`$a_1$`":                   "<code>$a_1$</code>",
		`$\unknown_1$`:              `<code>\unknown_1</code>`,
		`$\text{<b>a}$`:             `<mtext>&lt;b`,
		`$\href{javascript:x}{a}$`:  `<code>\href{javascript:x}{a}</code>`,
		`$\def\a{\a\a}\a$ then $b$`: `<code>\def\a{\a\a}\a</code> then <math><mi>b</mi></math>`,
		`$\gdef\a{b}\a$ then $\a$`:  `</math> then <code>\a</code>`,
		"<details><summary>Hint &amp; more</summary>use <b>float4</b></details>": "<details><summary>Hint &amp; more</summary>use float4</details>",
		"<details open>\n\n- **a**\n\n</details>":                                "<strong>a</strong>",
		"a </details> b":                    "<p>a  b</p>",
		"<details>\n\na":                    "</details>",
		"<details onclick=x>a</details>\n":  "a",
		"- [ ] one\n- [x] two":              "<li>☐ one</li>\n<li>☑ two</li>",
		"<details>&lt;script&gt;</details>": "<details>&lt;",
		"<script>alert(1)</script>":         "",
	} {
		html := described(t, source)
		if !strings.Contains(html, want) || strings.Contains(html, "<script") || strings.Contains(html, "onclick") ||
			strings.Count(html, "<details") != strings.Count(html, "</details>") {
			t.Errorf("%q becomes %q, want %q", source, html, want)
		}
	}
}

func FuzzDescription(f *testing.F) {
	fuzztest.Moment(f)
	f.Add("[*a](", 3)
	f.Add("- > a\n", 2)
	f.Add("|a|\n|-|\n|\n", 5)
	f.Fuzz(func(t *testing.T, part string, cut int) {
		if part == "" || len(part) > 1000 {
			return
		}
		cut = max(min(cut, len(part)), 0)
		half := maxDescriptionBytes / 2
		begin, end := part[:cut], part[cut:]
		source := strings.Repeat(begin, half/max(len(begin), 1)) + strings.Repeat(end, half/max(len(end), 1))
		costtest.Check(t, fmt.Sprintf("%q, %q", begin, end), func() { described(t, source) })
	})
}

func TestCommentsLinkToLinesAndStaySmall(t *testing.T) {
	h := NewHighlighter(1<<20, MaxHighlightedBytes)
	render := func(source, lines string) string {
		t.Helper()
		c, err := h.RenderComment(source, lines)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := c.Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	const at = "/submissions/7?tab=source"
	for source, want := range map[string]string{
		"#L12":                       `<p><a href="/submissions/7?tab=source#L12" rel="nofollow">#L12</a></p>`,
		"see #L1-L3.":                `<p>see <a href="/submissions/7?tab=source#L1" rel="nofollow">#L1-L3</a>.</p>`,
		"#L1\" onclick=\"x":          `<p><a href="/submissions/7?tab=source#L1" rel="nofollow">#L1</a>&#34; onclick=&#34;x</p>`,
		"[#L2](https://example.org)": `rel="nofollow">#L2</a>`,
	} {
		if got := render(source, at); !strings.Contains(got, want) {
			t.Errorf("%q becomes %q, want %q", source, got, want)
		}
	}
	for _, source := range []string{"a#L1", "#L0", "#L1234567", "#L1x", "`#L1`", "#l1"} {
		if got := render(source, at); strings.Contains(got, "<a") {
			t.Errorf("%q becomes %q", source, got)
		}
	}
	for source, want := range map[string]string{
		"a ![*b* c](/inbox) d":         "<p>a <em>b</em> c d</p>\n",
		"[![b](https://x.example)](/)": `>b</a>`,
		"![](/tasks?1)":                "<p></p>",
	} {
		if got := render(source, ""); strings.Contains(got, "<img") || !strings.Contains(got, want) {
			t.Errorf("a picture in a comment: %q becomes %q", source, got)
		}
	}
	if got := described(t, "![b](/b.png)"); !strings.Contains(got, "<img") {
		t.Errorf("a description has lost its picture: %s", got)
	}
	if got := render("[a]: http://x/"+strings.Repeat("é", 1800)+"\n\n"+strings.Repeat("[a]", 140),
		""); len(got) > 100_000 {
		t.Errorf("a comment of 2,200 characters becomes %d bytes", len(got))
	}
	if got := render("#L12", ""); strings.Contains(got, "<a") {
		t.Errorf("without a source it becomes %q", got)
	}
	for _, source := range []string{strings.Repeat("#L1\n\n", 800), "[a]: " + strings.Repeat("b", 2000) + "\n\n" +
		strings.Repeat("[a]\n\n", 390)} {
		if got := render(source, at); len(got) > 20*(len(source)+100) {
			t.Errorf("%d bytes become %d", len(source), len(got))
		}
	}
}
