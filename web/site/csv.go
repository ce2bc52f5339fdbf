package site

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"regexp"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// signedNumberPattern matches texts that begin like a formula but are not one: a number, or the single dash that ncu
// prints for a missing value.
var signedNumberPattern = regexp.MustCompile(`^[+-]([0-9.,]+([eE][+-]?[0-9]+)?)?$`)

// SendCSV responds with rows as CSV. Use it for every CSV download: it escapes texts that a spreadsheet would execute
// as formulas. Users choose texts such as their own names and the names of kernels and cases.
func SendCSV(c *fiber.Ctx, rows [][]string) error {
	var text bytes.Buffer
	out := csv.NewWriter(&text)
	for _, row := range rows {
		plain := make([]string, len(row))
		for i, cell := range row {
			plain[i] = escapeCSVFormula(cell)
		}
		if err := out.Write(plain); err != nil {
			return fmt.Errorf("write a row of CSV: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	c.Set(fiber.HeaderContentType, "text/csv; charset=utf-8")
	return c.Send(text.Bytes())
}

// escapeCSVFormula inserts an apostrophe before text that a spreadsheet would execute. Numbers stay unchanged.
func escapeCSVFormula(cell string) string {
	if cell == "" || !strings.Contains("=+-@\t\r\n", cell[:1]) || signedNumberPattern.MatchString(cell) {
		return cell
	}
	return "'" + cell
}
