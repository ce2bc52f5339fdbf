// Package playground is the pages that evaluate single kernels, with or without a reference. Package web routes to it;
// site/evaluations does the work, as it does for the API.
//
// Read playground.go (handlers), form.go (the form as a request of the API, and mistakes back at their fields),
// contract.go (what the kernels are called with, as rows or as JSON), examples.go, task.go (the form as a task).
//
// The form is read by the same code as the API's bodies, so that both take and refuse the same. It works without a script: what
// a script shows beside the form has a page of its own, and a row more is a form sent.
//
// What may go wrong: fieldOf names the field that a problem of the API belongs to by its path in the body. A path that it
// does not know yet is counted above the form, but marks no field, and its sentence is shown nowhere.
package playground
