// Package kernelrun is the evaluation of single kernels, as far as the site and its workers share it:
// what a request may say, the Python program that compiles, checks and times it, and the report that
// the program gives. It reads and carries; running is the evaluator's part, answering the web's.
package kernelrun
