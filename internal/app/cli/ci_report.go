package cli

import (
	"fmt"
	"os"
	"strings"

	"warpboard/internal/app/cli/console"
)

// printCIResults prints the results: a summary, and annotations for forges (GitHub and the like) that support them.
func (c *connection) printCIResults(o ciOptions, found []ciResult) error {
	// Annotations are written to the standard output, where the forge reads commands; the summary is written to the
	// file for summaries.
	if c.json {
		if err := c.jqFilter.Print(c.env.Stdout, found); err != nil {
			return err
		}
	} else if c.env.Getenv("GITHUB_ACTIONS") == "true" {
		for _, one := range found {
			if line := one.annotation(); line != "" {
				fmt.Fprintln(c.env.Stdout, line)
			}
		}
	}
	to := o.summary
	if to == "" {
		to = c.env.Getenv("GITHUB_STEP_SUMMARY")
	}
	if to == "" && c.json {
		return nil
	}
	if to == "" {
		_, err := fmt.Fprint(c.env.Stdout, resultsTable(found))
		return err
	}
	file, err := os.OpenFile(to, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	defer file.Close()
	_, err = file.WriteString(resultsTable(found))
	return err
}

// annotation returns the line that a forge shows next to a file, or "". No other line may begin with a command for the
// forge, because the output of a kernel could contain one.
func (k ciResult) annotation() string {
	// characters that the forge requires to be escaped in messages and properties; RemoveControlCharacters has removed
	// control characters
	escape := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	switch {
	case k.State == stateFailed:
		return fmt.Sprintf("::error file=%s::%s", property.Replace(k.File), escape.Replace(console.RemoveControlCharacters(k.Device+": "+k.Reason)))
	case k.Change == changeSlower:
		return fmt.Sprintf("::warning file=%s::%s", property.Replace(k.File), escape.Replace(console.RemoveControlCharacters(k.Device+": slower, "+k.timesText())))
	}
	return ""
}

func (k ciResult) timesText() string {
	if k.Base == nil || k.Current == nil {
		return ""
	}
	return fmt.Sprintf("%v → %v", console.Nanoseconds(*k.Base), console.Nanoseconds(*k.Current))
}

// changeText describes the time relative to that of the base commit or of the reference.
func (k ciResult) changeText() string {
	switch {
	case k.Speedup == nil || k.Change == changeSame:
		return string(k.Change)
	case k.Change == "":
		return fmt.Sprintf("%.2f× as fast as the reference", *k.Speedup)
	}
	return fmt.Sprintf("%s, %.2f×", k.Change, *k.Speedup)
}

// resultsTable returns the summary as a Markdown table. Text in cells is escaped, because it comes from kernels and
// sites.
func resultsTable(found []ciResult) string {
	cell := func(text string) string {
		text = strings.Join(strings.Fields(console.RemoveControlCharacters(text)), " ")
		return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "`", "\\`", "[", "\\[", "]", "\\]").Replace(text)
	}
	var out strings.Builder
	out.WriteString("| kernel | for | device | state | base | now | change |\n|---|---|---|---|---:|---:|---|\n")
	for _, k := range found {
		base, now := "", ""
		if k.Base != nil {
			base = console.Nanoseconds(*k.Base)
		}
		if k.Current != nil {
			now = console.Nanoseconds(*k.Current)
		}
		state := k.State
		if strings.HasPrefix(k.URL, "http://") || strings.HasPrefix(k.URL, "https://") {
			state = fmt.Sprintf("[%s](%s)", k.State, strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "|", "%7C").Replace(console.RemoveControlCharacters(k.URL)))
		}
		if k.Reason != "" {
			state += ": " + cell(k.Reason)
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s | %s | %s |\n", cell(k.File), cell(k.ComparedWith), cell(k.Device), state, base, now, k.changeText())
	}
	return out.String()
}
