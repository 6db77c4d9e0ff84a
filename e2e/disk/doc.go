// Package disk makes a disk that workloads share, as files of a FUSE file system of another
// process, with a loop device and a file system on each: a machine's own disk may be so fast that
// nobody loses anything on it, and control groups limit reads apart from writes and groups apart
// from one another.
//
//	d, err := disk.Attach(ctx, images, at)   // the program itself serves it: see Worker
//	v, err := d.Volume(ctx, path, "a.img", true)
//	cmd := v.InGroup(ctx, "", "postmark", "settings")
//	err = d.Limit()                          // from now on I/Os take their time
//	served, err := d.Served()
//
// It needs root.
package disk
