// Package costtest limits the cost of one request, whatever its input is: [CPU] of processor time and [Memory].
//
// Read cost.go. Tests of worst-case inputs call it.
package costtest
