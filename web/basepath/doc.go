// Package basepath lets the site live below a path of its host, https://lab.example.org/warpboard. Handlers, routes and
// templates are independent of it: they write and read addresses from the site's own root, "/tasks/softmax". Requests
// lose the path before the first of them, and answers get it after the last. A site at the root of its host has no
// cost.
package basepath
