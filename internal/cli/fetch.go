package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"os"

	"herbarium/internal/app"
	"herbarium/internal/fetch"
	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/publish/receive"
)

// fetchedSource returns the source of a file at an address, with a descriptor that names it.
func fetchedSource(ref herb.Ref, address, refresh string) (s descriptor.Source, err error) {
	resource := map[string]any{"name": ref.Name, "path": address,
		descriptor.Own: map[string]any{"refresh": cmp.Or(refresh, string(herb.RefreshManual))}}
	content, err := json.Marshal(map[string]any{"name": ref.Namespace, "resources": []any{resource}})
	if err != nil {
		return s, err
	}
	s, err = descriptor.Apply(content, descriptor.Source{Ref: ref}, ingest.Formats())
	s.Path = cmp.Or(herb.FetchFile(address), "file")
	s.DisplayName = s.Path
	return s, usage(err)
}

// fetchSources fetches the files of sources that name an address, from any host: the operator has
// named it. The caller calls closeFiles at the end.
func (r *runner) fetchSources(ctx context.Context, sources []descriptor.Source) (closeFiles func(), err error) {
	var files []*receive.File
	closeFiles = func() {
		for _, f := range files {
			_ = f.Close() // it was read
		}
	}
	secret, _ := r.Env(app.FetchEnv)
	credentials, err := fetch.ParseCredentials(herb.Secret(secret))
	if err != nil {
		return closeFiles, usage(err)
	}
	client := fetch.NewClient(fetch.ClientOptions{Hosts: fetch.AnyHost(), Credentials: credentials,
		Files: receive.New(receive.Options{Dir: os.TempDir()}), Program: "Herbarium/" + Version()})
	for i := range sources {
		s := &sources[i]
		if s.Fetch.Address == "" {
			continue
		}
		f, err := client.Fetch(ctx, s.Ref, s.Fetch)
		if err != nil {
			closeFiles()
			return func() {}, herb.At(s.Ref.String(), err)
		}
		files = append(files, f)
		s.Input, s.DisplayName = f.Content(), cmp.Or(f.Name, s.DisplayName)
	}
	return closeFiles, nil
}
