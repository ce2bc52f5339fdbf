// Package kernelrun has the types of evaluations of single kernels that the site and its workers share: requests, reports
// and results. It is a leaf; package evaluation below it runs evaluations.
//
// In reading order: request.go has Request, Read and Check; models.go describes the fields, also as JSON Schema; kinds.go
// reads values as laxly as pydantic does, with the same texts of errors, because clients of the foreign API compare them;
// checks.go checks fields together; extras.go decides about unknown keys; report.go has the report and the result.
//
// The site reads requests (web) and stores results (evaluator/dispatch); a worker gets the Request's JSON and answers
// with the Result's. Both are stored: their JSON names stay.
package kernelrun
