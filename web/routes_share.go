package web

import "warpboard/web/site"

// shareRoutes adds content for other sites, and downloads of boards.
func (s *Server) shareRoutes(pages routeGroup) {
	const board = "/tasks/:slug/boards/:device/"
	pages.get(board+"badge.svg", s.boards.BoardBadge)
	pages.get(board+"records.atom", s.boards.BoardFeed)
	pages.get(board+"entries.csv", s.boards.BoardCSV)
	pages.get(board+"dataset.jsonl", s.boards.Dataset)
	pages.get(board+"dataset.parquet", s.boards.Dataset)
	pages.get(board+"kernelbot.parquet", s.boards.KernelBotDataset)
	pages.get(board+"README.md", s.boards.DatasetCard)
	pages.get(board+"embed", s.boards.Embed)
	pages.get("/records.atom", s.boards.SiteFeed)
	pages.get("/card.png", s.boards.PreviewImage)
	pages.get(board+"card.png", site.RedirectTo("/card.png")) // other sites have stored links to this path
	pages.get("/robots.txt", s.boards.Robots)
	pages.get("/sitemap.xml", s.boards.SiteMap)
	pages.get("/favicon.ico", s.boards.Icon)
	pages.get("/tasks/:slug/records.atom", s.boards.TaskFeed)
	pages.get("/users/:id/records.atom", s.boards.PersonFeed)
	pages.get("/runs/:id/badge.svg", s.boards.RunBadge)
	pages.get("/runs/:id/card.png", site.RedirectTo("/card.png"))
}
