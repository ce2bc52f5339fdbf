// Package mount lets the site live below a path of its host, https://lab.example.org/warpboard. Handlers, routes and
// templates know nothing of it: they write and read addresses from the site's own root, "/tasks/softmax". What comes in
// loses the path before the first of them sees it, and what goes out gets it when all of them are done. A site at the
// root of its host pays nothing.
package mount
