// Package costtest holds what one request may cost, whatever its input is: [CPU] of processor time and [Memory].
//
// Read cost.go. Tests of worst inputs call it.
package costtest
