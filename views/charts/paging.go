package charts

import (
	"fmt"

	"warpboard/views/format"
)

// paging is one page of a long table.
type paging struct {
	page, pages int // from 1
	from, to    int // indexes of the shown rows, to exclusive
	total       int
}

// newPaging clamps the wanted page to those that exist.
func newPaging(wanted, total, size int) paging {
	pages := max(1, (total+size-1)/size)
	page := min(max(wanted, 1), pages)
	from := (page - 1) * size
	return paging{page: page, pages: pages, from: from, to: min(from+size, total), total: total}
}

func (p paging) text() string {
	return fmt.Sprintf("%s–%s of %s", format.Decimal(float64(p.from+1)), format.Decimal(float64(p.to)), format.Decimal(float64(p.total)))
}
