package authoring

import (
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/tasks"
	"warpboard/tasks/inplace"
	"warpboard/tasks/problems"
	"warpboard/views"
)

// fieldsOf are the form's fields with the values in task.yml; nil where that cannot be read, or is larger than any task's.
func fieldsOf(files []views.EditedFile) []views.TaskField {
	at := views.FileNamed(files, tasks.TaskFile)
	if at < 0 || len(files[at].Text) > tasks.MaxYAML {
		return nil
	}
	values, err := inplace.Values([]byte(files[at].Text))
	if err != nil {
		return nil
	}
	fields := views.TaskFields()
	for i, f := range fields {
		if value, ok := values[f.Key]; ok {
			fields[i].Value = value.Text
			if f.Kind == views.FieldList {
				fields[i].Value = strings.Join(value.List, ", ")
			}
		}
	}
	return fields
}

// applyFields writes the fields that were changed in the form into task.yml. It says which could not be.
func applyFields(c *fiber.Ctx, files []views.EditedFile) (wrong []problems.Problem) {
	at := views.FileNamed(files, tasks.TaskFile)
	if at < 0 {
		return nil
	}
	for _, f := range views.TaskFields() {
		now, was := formValues(c, f.Input()), formValues(c, f.Was())
		if len(now) == 0 || len(was) == 0 || strings.TrimSpace(now[0]) == was[0] {
			continue
		}
		text, err := inplace.Set([]byte(files[at].Text), f.Key, valueIn(f, strings.TrimSpace(now[0])), tasks.TopKeys())
		var refused *inplace.Error
		if f.Key == views.TitleField().Key && err != nil && !errors.As(err, &refused) {
			continue // the file is no YAML, which is a problem of its own; the form keeps the title
		}
		if err != nil {
			wrong = append(wrong, problems.Problem{File: tasks.TaskFile, Message: "the field “" + f.Label + "” could not be written into the file: " + err.Error()})
			continue
		}
		files[at].Text = string(text)
	}
	return wrong
}

// valueIn is what a field holds.
func valueIn(f views.TaskField, text string) (v inplace.Value) {
	switch f.Kind {
	case views.FieldNumber:
		v.Text, v.Bare = text, !strings.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	case views.FieldList:
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				v.List = append(v.List, item)
			}
		}
	default:
		v.Text = text
	}
	return v
}
