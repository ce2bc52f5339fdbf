// Package files stores contents that are too large for the database, by their digest: in a folder, or in a store that
// speaks S3, which all replicas of a site share.
//
// Read files.go, then folder.go and s3.go. Package models writes a row after the content is there, and sweeps now and
// then.
//
// It promises that a content is whole or missing. Putting it again at any time renews its age. A content that no row
// names is swept once it is so old that its row would exist.
//
// What may go wrong: the clocks of an S3 store and of the site differ, so a new content is kept for an hour before it
// may be swept (youngFile in models).
package files
