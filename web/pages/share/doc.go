// Package share has what other sites show: badges, feeds, pictures of links, a board in a frame, and downloads of a board.
// All of it contains only what a visitor may see, for every viewer, so that nothing private gets into another page: a hidden
// task has none. Addresses are below those of boards, tasks, runs and people.
//
// In reading order: share.go (whose board), badge.go, feed.go, card.go with draw.go (PNG), embed.go, download.go (CSV),
// dataset.go, discover.go (files at the root for crawlers and feed readers).
package share
