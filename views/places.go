package views

import "github.com/a-h/templ"

// Place is a page with the same name everywhere: in its title and heading, and in the header, the footer, the tabs, the
// breadcrumbs, and the search.
type Place struct {
	Label       string
	URL         templ.SafeURL
	Section     string // name in Page.Section or of a tab
	SearchWords string // further search words
}

// MainPlaces returns the links in the header of every page.
func MainPlaces() []Place {
	return []Place{
		{"Tasks", "/tasks", "tasks", ""},
		{"Leaderboards", "/leaderboards", "leaderboards", ""},
		{"Queue", "/devices", "devices", "devices gpu workers"},
		{"Docs", "/docs", "docs", "documentation help"},
	}
}

// MorePlaces returns the links in the footer of every page.
func MorePlaces() []Place {
	return []Place{
		{"About", "/about", "about", ""},
		{"Events", "/events", "events", ""},
		{"What a score means", "/trust", "trust", "measuring"},
		{"Task format", "/docs/tasks", "docs", ""},
		{"API", "/api", "api", ""},
		{"Playground", "/playground", "playground", ""},
	}
}

// adminTabs returns the tabs of admins for all their pages, including those that others can see.
func adminTabs() []Place {
	for _, place := range MainPlaces() {
		if place.Section == "devices" {
			return append(AdminPlaces(), place)
		}
	}
	return AdminPlaces()
}

// AdminPlaces returns the pages for admins.
func AdminPlaces() []Place {
	return []Place{
		{"Health", "/operate/health", "health", "status"},
		{"Runs to review", "/review", "review", ""},
		{"People", "/people", "people", ""},
		{"Audit log", "/audit", "audit", ""},
		{"Controls", "/operate", "operate", "operations switches budgets join tokens"},
		{"Storage", "/operate/storage", "storage", ""},
		{"Webhooks", "/webhooks", "webhooks", "alerts"},
		{"E-mail", "/operate/mail", "mail", ""},
	}
}

// OwnPlaces returns the pages for a signed-in person.
func OwnPlaces(v Viewer) []Place {
	list := []Place{{"Your account", "/me", "me", "settings tokens submissions"}, {"Inbox", "/inbox", "inbox", ""}, {"Webhooks", "/webhooks", "webhooks", ""}}
	if v.MayCreateTasks {
		list = append(list, Place{"New task", "/tasks/new", "new", ""})
	}
	if v.IsAdmin {
		list = append(list, AdminPlaces()...)
	}
	return list
}

// placeCrumb returns the breadcrumb of a page of the header.
func placeCrumb(section string) crumb {
	for _, place := range MainPlaces() {
		if place.Section == section {
			return crumb{place.Label, place.URL}
		}
	}
	return crumb{}
}
