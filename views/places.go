package views

import "github.com/a-h/templ"

// PageLink is a page with the same name everywhere: in its title and heading, and in the header, the footer, the tabs,
// the breadcrumbs, and the search.
type PageLink struct {
	Label       string
	URL         templ.SafeURL
	SectionName string // as in Page.HeaderSection, or the name of a tab
	SearchWords string // further search words
}

// HeaderPageLinks returns the links in the header of every page.
func HeaderPageLinks() []PageLink {
	return []PageLink{
		{"Tasks", "/tasks", "tasks", ""},
		{"Leaderboards", "/leaderboards", "leaderboards", ""},
		{"Queue", "/devices", "devices", "devices gpu workers"},
		{"Docs", "/docs", "docs", "documentation help"},
	}
}

// FooterPageLinks returns the links in the footer of every page.
func FooterPageLinks() []PageLink {
	return []PageLink{
		{"About", "/about", "about", ""},
		{"Events", "/events", "events", ""},
		{"What a score means", "/trust", "trust", "measuring"},
		{"Task format", "/docs/tasks", "docs", ""},
		{"API", "/api", "api", ""},
		{"Playground", "/playground", "playground", ""},
	}
}

// adminTabs returns the tabs of admins for all their pages, including those that others can see.
func adminTabs() []PageLink {
	for _, place := range HeaderPageLinks() {
		if place.SectionName == "devices" {
			return append(AdminPageLinks(), place)
		}
	}
	return AdminPageLinks()
}

// AdminPageLinks returns the pages for admins.
func AdminPageLinks() []PageLink {
	return []PageLink{
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

// OwnPageLinks returns the pages for a signed-in person.
func OwnPageLinks(v Viewer) []PageLink {
	list := []PageLink{{"Your account", "/me", "me", "settings tokens submissions"}, {"Inbox", "/inbox", "inbox", ""}, {"Webhooks", "/webhooks", "webhooks", ""}}
	if v.MayCreateTasks {
		list = append(list, PageLink{"New task", "/tasks/new", "new", ""})
	}
	if v.IsAdmin {
		list = append(list, AdminPageLinks()...)
	}
	return list
}

// pageLinkCrumb returns the breadcrumb of a page of the header.
func pageLinkCrumb(section string) crumb {
	for _, place := range HeaderPageLinks() {
		if place.SectionName == section {
			return crumb{place.Label, place.URL}
		}
	}
	return crumb{}
}
