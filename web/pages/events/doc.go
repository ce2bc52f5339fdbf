// Package events is the pages of events: their list, each event with its standings, a wall to project, the form of the
// organizer, the steps of the reveal, and exports.
//
// Standings are those of the tasks that the viewer may see (models.Store.EventStandings). Pages compare times by the database's
// clock, as submissions are.
package events
