// Package events is the pages of events: their list, each event with its standings, a wall to project, the form of the
// organizer, the steps of the reveal, and exports.
//
// Standings are computed for each request from the boards (models.Store.EventStandings), of the tasks that the viewer may
// see. Pages compare times by the database's clock, as submissions are.
package events
