// Package blobs keeps files in an object store that many nodes share: S3 and what speaks its protocol, Google Cloud
// Storage, Azure Blob Storage, or a folder.
//
// # Addresses
//
//	s3://bucket/prefix?region=eu-central-1
//	s3://bucket/prefix?endpoint=https://minio.example.org:9000
//	gs://bucket/prefix
//	gs://bucket/prefix?endpoint=https://storage.example.org
//	azblob://container/prefix?storage_account=name
//	file:///folder
//
// A prefix keeps what is stored apart from all else in the bucket. The folder of a file address must exist, unless
// create_dir=true asks for it; its parent must exist in any case, so that a file system that is not mounted is noticed.
//
// # Credentials
//
// They are never part of the address. Each store takes them from where its own tools do:
//
//   - S3: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; or the shared configuration files, with
//     AWS_PROFILE or profile=…; or the role of the machine or of the pod. The region comes from region=…, AWS_REGION or
//     those files; with an endpoint it may be left out.
//   - Google: the file that GOOGLE_APPLICATION_CREDENTIALS names, what gcloud has left, or the machine's account; none with
//     anonymous=true, as an emulator wants it.
//   - Azure: AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, for the account that storage_account=… or AZURE_STORAGE_ACCOUNT
//     names; AZURE_STORAGE_CONNECTION_STRING; or the identity that AZURE_CLIENT_ID and its kin, or the machine, give.
//
// They must permit to list, read, write and delete objects, and on S3 to list and abort multipart uploads. Without the
// permission to list, S3 refuses to say that an object does not exist.
//
// # Errors
//
// herb.CodeNotFound means that the store was asked and has nothing under that name. All else that keeps the store from
// doing what it should is herb.CodeUnavailable, a refusal included: it is no fault of who asked. What fails on this side,
// a file that cannot be read or a writer that refuses, is returned as it is.
//
// # Concurrency
//
// A Bucket may be used by any number of goroutines. Writing one name from several at once leaves one of the files, whole.
package blobs
