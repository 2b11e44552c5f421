// Command s3 runs the S3 server of the tests: versitygw with a folder of objects and nothing else.
// Compiling all of versitygw takes half as long again.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: ROOT_ACCESS_KEY=… ROOT_SECRET_KEY=… s3 ADDRESS REGION OBJECTS METADATA")
		os.Exit(2)
	}
	if err := serve(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "s3:", err)
		os.Exit(1)
	}
}

func serve(address, region, objects, metadata string) error {
	sidecar, err := meta.NewSideCar(metadata)
	if err != nil {
		return err
	}
	folder, err := posix.New(objects, sidecar, posix.PosixOpts{SideCarDir: metadata})
	if err != nil {
		return err
	}
	const requests = 10_000 // more than any test sends
	return embedgw.RunVersityGW(context.Background(), folder, &embedgw.Config{
		RootUserAccess:    os.Getenv("ROOT_ACCESS_KEY"),
		RootUserSecret:    os.Getenv("ROOT_SECRET_KEY"),
		Region:            region,
		Ports:             []string{address},
		MaxConnections:    requests,
		MaxRequests:       requests,
		MultipartMaxParts: 10_000,
		KeepAlive:         true,
		Quiet:             true,
	})
}
