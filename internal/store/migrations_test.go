package store_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

// TestMigrations_released compares the migrations with the checksums that they had when they were
// released. A released migration is never edited, because databases have run it: add a new file,
// and its checksum here when it is released.
func TestMigrations_released(t *testing.T) {
	t.Parallel()
	released := map[string]string{
		"sqlite/migrations/0001_initial.sql":     "c156a1e49aa6e9144ca77f47ef7ae2665e19ebb09f4d6da7376d5824905c9329",
		"sqlite/migrations/0002_publishes.sql":   "d7b8f4f1ca39515048cf2ec1e770e27b61446261126b2f99db25f3cbe3051abf",
		"sqlite/migrations/0003_drafts.sql":      "8d4ef2e17a757153c31efc04e956ae7b9a5f054aac22b8ef22d558bf89fd0081",
		"sqlite/migrations/0004_versions.sql":    "1306671874e243cfb838242cdf781d6a75d71611f447b3fdb7ac55d3f9d2525c",
		"sqlite/migrations/0005_webhooks.sql":    "820663168830c95cb87ee93dbbf485dfccfab4264e1b5d365515a2380ff5024c",
		"sqlite/migrations/0006_claims.sql":      "53821fd493411ed3addd6d20b4b368e242ef728f232cf6234bef0b245e04f41d",
		"sqlite/migrations/0007_fetches.sql":     "0216571b0d70fa6eeb2c7ccce1288e45859dafde8e283f0b08c8a4d43d620ff3",
		"postgres/migrations/0001_initial.sql":   "36c1dc59a8c98d14676af6a5e6714670eb5d6035c40f280407e4f33195520007",
		"postgres/migrations/0002_publishes.sql": "37ef96babb9f7e13c56259f71e004601fec4a3345661b146de3c34bbd25417f7",
		"postgres/migrations/0003_drafts.sql":    "c4302148080e6d57cb601f7a44c32a4cd615c3c4f3d66a466fcd6083882bf7c0",
		"postgres/migrations/0004_versions.sql":  "d2a031688ceb1ee618b9b3144be914aaa1e8991eeac97394faa4a4eac472a24d",
		"postgres/migrations/0005_webhooks.sql":  "144034b6f8f0f62f4f43814f5ec2bbd9448a94ed3c7e4d71e7995a7c1628689b",
		"postgres/migrations/0006_claims.sql":    "3102c6cf6270e5bab9765f714393885fcb625121906f6929974a2d74f8a73be1",
		"postgres/migrations/0007_fetches.sql":   "9abdcaa159b241044585d48344fc9354b3f56ce9916d9026a08ce13ca402f929",
	}
	files, err := filepath.Glob("*/migrations/*.sql")
	if err != nil || len(files) != len(released) {
		t.Errorf("%d migrations, %v; %d have checksums", len(files), err, len(released))
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		if got := hex.EncodeToString(sum[:]); got != released[filepath.ToSlash(file)] {
			t.Errorf("%s has the checksum %s, want %q", file, got, released[filepath.ToSlash(file)])
		}
	}
}
