package charts

import "testing"

func TestNamesOfCountersBreakAndAreCopiedUnchanged(t *testing.T) {
	const name = "sm__inst_executed_pipe_fp16.avg.pct_of_peak <&>"
	doc, html := render(t, counterName(name))
	if want := "sm__<wbr>inst_<wbr>executed_<wbr>pipe_<wbr>fp16.<wbr>avg.<wbr>pct_<wbr>of_<wbr>peak &lt;&amp;&gt;"; html != want {
		t.Errorf("%s, want %s", html, want)
	}
	if got := doc.Text(); got != name {
		t.Errorf("a copy is %q", got)
	}
	for _, table := range []string{"#raw tbody th", "td.pf-from"} {
		page, _ := render(t, Details(detailsOf(report(t, "tri"), 0)))
		if page.Find(table+" wbr").Length() == 0 {
			t.Errorf("%s does not break", table)
		}
	}
}
