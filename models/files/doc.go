// Package files stores contents that are too large for the database, by their digest: in a folder, or in an S3 store
// that all replicas of a site share.
//
// Read files.go, then folder.go and s3.go. Package models writes a row after the content exists, and sweeps regularly.
//
// A content is whole or missing. Putting it again renews its age. A content without a row is swept once it is so old
// that its row would exist.
//
// Trap: the clocks of an S3 store and of the site differ, so a new content is kept for an hour before it may be swept
// (minSweptFileAge in models).
package files
