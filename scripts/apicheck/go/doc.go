// Command apicheck drives a real site with the client that oapi-codegen made of its document: SITE, TOKEN, TASK, SOURCE (a file).
// It is a module of its own, so that what it needs is no requirement of Warpboard; scripts/api-check makes the client and runs it.
package main
