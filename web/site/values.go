package site

import (
	"fmt"

	"github.com/gofiber/fiber/v2"

	"warpboard/views/format"
)

// MostValues is how many values, keys included, the JSON of one request may have by default: each takes far more memory and
// time than its text.
const MostValues = 1 << 12

// mostFields is how many fields a form may have.
const mostFields = 1 << 12

// mostParts is how many parts a form with files may have; the others are how many bytes each may say of itself, and all together.
const mostParts, largestPartHead, mostHeads = 1 << 10, 4 << 10, 1 << 20

// MostText is how many bytes of text the fields of a form may have together that shows all of it again: a page says each
// character with up to five.
const MostText = 1 << 20

// TooMuchText refuses what does not fit into a form; instead says what to do.
func TooMuchText(instead string) error {
	return &Failure{Status: fiber.StatusRequestEntityTooLarge, Code: "too_large",
		Message: fmt.Sprintf("The texts of this form exceed %s in total. %s", format.Bytes(MostText), instead)}
}

// Listed is a list that JSON never shows as null: generated clients know lists alone.
func Listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
