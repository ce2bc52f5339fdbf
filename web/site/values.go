package site

import (
	"fmt"

	"github.com/gofiber/fiber/v2"

	"warpboard/views/format"
)

// MostValues is the default limit of the values, keys included, in the JSON of one request: each takes far more memory
// and time than its text.
const MostValues = 1 << 12

// maxFormFields limits the fields of a form.
const maxFormFields = 1 << 12

// maxFormParts limits the parts of a form with files, maxPartHeader the bytes in one part's header, and maxPartHeaders
// those in all headers.
const maxFormParts, maxPartHeader, maxPartHeaders = 1 << 10, 4 << 10, 1 << 20

// MostText limits the text in the fields of a form that shows all of it again: a page writes each character with up to
// five.
const MostText = 1 << 20

// TooMuchText refuses text that does not fit into a form; instead names an alternative.
func TooMuchText(instead string) error {
	return &Failure{Status: fiber.StatusRequestEntityTooLarge, Code: "too_large",
		Message: fmt.Sprintf("The texts of this form exceed %s in total. %s", format.Bytes(MostText), instead)}
}

// NonNil returns a list that JSON never encodes as null: generated clients accept only lists.
func NonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
