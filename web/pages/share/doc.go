// Package share holds what leads to the site from elsewhere: badges, feeds, pictures of links, a board in a frame, and
// downloads of a board. All of it is what a visitor may see, no matter who asks, so that nothing private gets into another
// page: a task that is hidden has none. Addresses are below those of boards, tasks, runs and people.
//
// In reading order: share.go (whose board), badge.go, feed.go, card.go with draw.go (PNG), embed.go, download.go (CSV), dataset.go,
// discover.go (what crawlers and readers of feeds look for at the root).
package share
