// Package blobs stores files in an object store that several nodes share: a store that speaks the S3 protocol, or a folder.
//
// # Addresses
//
//	s3://bucket/prefix?region=eu-central-1
//	s3://bucket/prefix?endpoint=https://minio.example.org:9000
//	s3://bucket/prefix?endpoint=https://storage.googleapis.com
//	file:///folder
//
// A prefix separates the objects of one installation from everything else in the bucket. The folder of a file address must
// exist unless the address has create_dir=true. Its parent must exist in any case, so that a file system that is not mounted
// is reported instead of filled in.
//
// # Credentials
//
// Credentials are never part of the address. They come from, in this order:
//
//  1. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN;
//  2. the shared configuration files, for the profile that AWS_PROFILE names;
//  3. a web identity token, the ECS or EKS container endpoint, or the EC2 instance metadata service.
//
// An address with profile=… reads that profile only. The region comes from region=…, AWS_REGION, AWS_DEFAULT_REGION or the
// shared configuration files; it is optional if there is an endpoint.
//
// The credentials must permit listing, reading, writing and deleting objects, and listing and aborting multipart uploads.
// Without the permission to list, S3 reports a missing object as forbidden.
//
// # Errors
//
// herb.CodeNotFound means that the store answered and has no object of that name. Any other failure of the store is
// herb.CodeUnavailable, including a refusal, because the caller cannot fix it. Local failures, such as a file that cannot be
// read or a writer that fails, are returned unchanged.
//
// # Concurrency
//
// A Bucket is safe for concurrent use. Concurrent writes to one name leave one of the files, complete.
package blobs
