// Package docs is the documentation that the site serves under /docs.
package docs
