// Package playground is the pages that evaluate single kernels, with or without a reference.
//
// Read playground.go (handlers), form.go (the form as a request of the API, and mistakes back at their fields),
// contract.go (what the kernels are called with, as rows or as JSON), examples.go, task.go (the form as a task).
//
// The form is read by the same code as the API's bodies, so that both take and refuse the same.
package playground
