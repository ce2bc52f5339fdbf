package web

import "warpboard/web/site"

// shareRoutes are what other sites show of this one, and downloads of boards.
func (s *Server) shareRoutes(pages group) {
	const board = "/tasks/:slug/boards/:device/"
	pages.get(board+"badge.svg", s.share.BoardBadge)
	pages.get(board+"records.atom", s.share.BoardFeed)
	pages.get(board+"entries.csv", s.share.BoardCSV)
	pages.get(board+"dataset.jsonl", s.share.Dataset)
	pages.get(board+"dataset.parquet", s.share.Dataset)
	pages.get(board+"kernelbot.parquet", s.share.KernelBotDataset)
	pages.get(board+"README.md", s.share.DatasetCard)
	pages.get(board+"embed", s.share.Embed)
	pages.get("/records.atom", s.share.SiteFeed)
	pages.get("/card.png", s.share.Card)
	pages.get(board+"card.png", site.RedirectTo("/card.png")) // links that other sites have kept
	pages.get("/robots.txt", s.share.Robots)
	pages.get("/sitemap.xml", s.share.SiteMap)
	pages.get("/favicon.ico", s.share.Icon)
	pages.get("/tasks/:slug/records.atom", s.share.TaskFeed)
	pages.get("/users/:id/records.atom", s.share.PersonFeed)
	pages.get("/runs/:id/badge.svg", s.share.RunBadge)
	pages.get("/runs/:id/card.png", site.RedirectTo("/card.png"))
}
