// Package playground is the pages that evaluate single kernels, with or without a reference. Package web routes to it;
// site/evaluations does the work, as it does for the API.
//
// Read playground.go (handlers), form.go (the form as a request of the API, and mistakes back at their fields),
// contract.go (the arguments of the kernels, as rows or as JSON), examples.go, task.go (the form as a task).
//
// The same code reads the form and the API's bodies, so that both accept and refuse the same. It works without a
// script: everything that a script shows beside the form has its own page, and adding a row sends the form.
//
// What may go wrong: fieldOfPath finds the form's field for a problem by the problem's path in the API's body. A
// problem with an unknown path is counted above the form, but marks no field, and its sentence is not shown.
package playground
