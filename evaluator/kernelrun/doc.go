// Package kernelrun has the types of evaluations of single kernels that the site and its workers share: requests,
// reports, and results. Package evaluation below it runs evaluations.
//
// In reading order: request.go has Request, ReadRequest, and Check; models.go describes the fields, also as JSON
// Schema; kinds.go parses values as leniently as pydantic, with the same error texts, because clients of the foreign
// API compare them; free.go parses values with free keys; checks.go checks fields together; extras.go handles unknown
// keys; report.go has the report and the result; compilation.go has those of requests that only compile.
//
// The site reads requests (web) and stores results (evaluator/dispatch); a worker gets the Request's JSON and answers
// with the Result's. Both are stored, so their JSON names must not change.
package kernelrun
