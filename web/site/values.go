package site

import (
	"fmt"

	"github.com/gofiber/fiber/v2"

	"warpboard/views/format"
)

// MaxJSONValues is the default limit of JSON values (including keys) in one request. Each needs much more memory and
// time than its text.
const MaxJSONValues = 1 << 12

// maxFormFields limits the fields of a form.
const maxFormFields = 1 << 12

// maxFormParts limits the parts of a multipart form, maxPartHeader the header of one part, and maxPartHeaders all
// headers together, both in bytes.
const maxFormParts, maxPartHeader, maxPartHeaders = 1 << 10, 4 << 10, 1 << 20

// MaxFormText limits the total text in a form that may be shown again, in bytes. HTML escapes one character as up to
// five bytes.
const MaxFormText = 1 << 20

// TooMuchTextError returns the error for a form with too much text. instead suggests an alternative.
func TooMuchTextError(instead string) error {
	return &Failure{Status: fiber.StatusRequestEntityTooLarge, Code: "too_large",
		Message: fmt.Sprintf("The texts of this form exceed %s in total. %s", format.Bytes(MaxFormText), instead)}
}

// NonNilSlice returns list, or an empty slice if it is nil, so that JSON never contains null. Generated clients accept
// only lists.
func NonNilSlice[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
