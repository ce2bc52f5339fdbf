package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	house, err := measure(cmp.Or(flag.Arg(0), "."))
	if err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
	if *asJSON {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(house)
	} else {
		err = house.print()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
}

func (h *House) print() error {
	out := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "package\tfiles\tlines\ttempl\tfunctions\t> 40\tcomments\ttests ÷ code\t")
	total, packages := Package{}, 0
	for _, dir := range slices.Sorted(maps.Keys(h.Packages)) {
		p := h.Packages[dir]
		total.add(*p)
		if p.Lines == 0 {
			continue // tests alone
		}
		p.row(out, dir)
		packages++
	}
	total.row(out, fmt.Sprintf("%d packages", packages))
	if err := out.Flush(); err != nil {
		return err
	}
	list := func(title string, found []string) {
		fmt.Printf("\n%s: %d\n", title, len(found))
		for _, line := range found {
			fmt.Println("  " + line)
		}
	}
	list("functions over 40 lines", h.Long)
	list("packages over 3,000 lines", h.large())
	list("import aliases that only repair a name", h.Aliases)
	list("upward arrows between rooms", h.Upward)
	fmt.Printf("\narrows between packages: %d, of which inside web: %d\n", h.Arrows, h.WebArrows)
	return nil
}

func (h *House) large() []string {
	var found []string
	for _, dir := range slices.Sorted(maps.Keys(h.Packages)) {
		if lines := h.Packages[dir].Lines; lines > 3000 {
			found = append(found, fmt.Sprintf("%s: %d", dir, lines))
		}
	}
	return found
}

func (p Package) row(out *tabwriter.Writer, name string) {
	ratio := func(a, b int, layout string) string {
		if b == 0 {
			return "–"
		}
		return fmt.Sprintf(layout, float64(a)/float64(b))
	}
	comments := "–"
	if p.Lines > 0 {
		comments = fmt.Sprintf("%.1f %%", 100*float64(p.Comments)/float64(p.Lines))
	}
	fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t\n", strings.TrimSpace(name), p.Files, p.Lines, p.Templ, p.Functions, p.Long, comments, ratio(p.Tests, p.Lines, "%.2f"))
}
