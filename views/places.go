package views

import "github.com/a-h/templ"

// Place is a page that links lead to by one name: its title and heading, and what the head, the foot, the tabs, the
// breadcrumbs, and the search call it.
type Place struct {
	Label   string
	URL     templ.SafeURL
	Section string // that Page.Section or a tab names
	Words   string // that find it, too
}

// MainPlaces are in the head of every page.
func MainPlaces() []Place {
	return []Place{
		{"Tasks", "/tasks", "tasks", ""},
		{"Leaderboards", "/leaderboards", "leaderboards", ""},
		{"Queue", "/devices", "devices", "devices gpu workers"},
		{"Docs", "/docs", "docs", "documentation help"},
	}
}

// MorePlaces are in the foot of every page.
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

// adminTabs lead admins between all their pages, also to those that others read.
func adminTabs() []Place {
	for _, place := range MainPlaces() {
		if place.Section == "devices" {
			return append(AdminPlaces(), place)
		}
	}
	return AdminPlaces()
}

// AdminPlaces are the pages for admins.
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

// OwnPlaces are for someone who is signed in.
func OwnPlaces(v Viewer) []Place {
	list := []Place{{"Your account", "/me", "me", "settings tokens submissions"}, {"Inbox", "/inbox", "inbox", ""}, {"Webhooks", "/webhooks", "webhooks", ""}}
	if v.Creator {
		list = append(list, Place{"New task", "/tasks/new", "new", ""})
	}
	if v.Admin {
		list = append(list, AdminPlaces()...)
	}
	return list
}

// placeCrumb is the crumb of a main place.
func placeCrumb(section string) crumb {
	for _, place := range MainPlaces() {
		if place.Section == section {
			return crumb{place.Label, place.URL}
		}
	}
	return crumb{}
}
