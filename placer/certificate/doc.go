// Package certificate keeps the certificates of listeners and of callers as new as
// their files, so that a renewed certificate needs no restart.
//
// Files are looked at when a connection is made or a request sent, at most once a
// second, and at once by Reload. Where new files cannot be used (half written, a key
// that is not the certificate's) the old ones stay in use, and that is logged once.
package certificate
