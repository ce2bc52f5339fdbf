// Package hooks is the pages of webhooks: a person's own, and for admins the site's.
package hooks
