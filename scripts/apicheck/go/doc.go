// Command apicheck tests a real site with the client that oapi-codegen generates from the site's OpenAPI document. The
// environment has SITE, TOKEN, TASK, and SOURCE (a file). It is a separate module, so that its dependencies are not
// added to Warpboard's. scripts/api-check generates the client and runs it.
package main
