package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/tasks"
	"warpboard/web/site"
	"warpboard/web/site/evaluations"
)

// readJSON reads a body into a struct. It refuses unknown keys, because a mistyped key would otherwise have a silent
// effect.
func readJSON(c *fiber.Ctx, into any) error {
	body := c.Request().Body() // not c.Body(), which copies the body
	if job.ExceedsValueCount(body, site.MaxJSONValues) {
		return site.Invalid("body", "The request has more than %d values.", site.MaxJSONValues)
	}
	var given map[string]json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(body))
	err := decoder.Decode(&given)
	if err == nil {
		if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is text after its end")
		}
	}
	switch kind := c.Get(fiber.HeaderContentType); {
	case !evaluations.IsJSON(kind):
		return site.Invalid("body", "The request is not a JSON object: %s.", evaluations.NotJSONMessage(kind))
	case err != nil && !errors.As(err, new(*json.UnmarshalTypeError)):
		return site.Invalid("body", "The request is not a JSON object: %v.", err)
	case given == nil:
		return site.Invalid("body", "The request is not a JSON object.")
	}
	if broken := site.FindInvalidText(body); broken != nil {
		return site.Invalid("body", "The text of %.80q is not UTF-8 on line %d.", strings.Join(broken.Path, "."), broken.Line)
	}
	known := jsonKeys(reflect.TypeOf(into).Elem())
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, key) {
			return site.Invalid("unknown_key", "The key %.80q is not known; %s", key, suggestKey(key, known))
		}
	}
	if err := json.Unmarshal(body, into); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return site.Invalid("body", "The key %.80q cannot be a %s.", wrong.Field, wrong.Value)
		}
		return site.Invalid("body", "The request is not a JSON object.")
	}
	return nil
}

// jsonKeys returns the keys of a struct in JSON.
func jsonKeys(of reflect.Type) (keys []string) {
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		if name != "" && name != "-" {
			keys = append(keys, name)
		}
	}
	return keys
}

// suggestKey names the known key that was probably intended, or all of them.
func suggestKey(key string, known []string) string {
	if near := tasks.NearestName(key, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "known are " + strings.Join(known, ", ") + "."
}
