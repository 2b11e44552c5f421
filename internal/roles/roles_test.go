package roles_test

import (
	"strings"
	"testing"

	"herbarium/internal/roles"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]roles.Role{
		"": roles.None, "vat": roles.Measure, "vat_number": roles.Code, "cas": roles.None, "cod": roles.None,
		"mobile_subscriptions": roles.Amount,
		"postal_votes":         roles.Amount, "account_balance": roles.Measure, "phone_calls": roles.Amount,
		"zipper_length": roles.Length,
		"ZIP":           roles.Code, "billingZipCode": roles.Code, "Código": roles.WeakCode,
		"Gemeindeschlüssel": roles.Code,
		"Phone (home)":      roles.Code,
		"Telefon Nr.":       roles.Code, "house_number": roles.Identifier, "country code": roles.WeakCode,
		"zip5":      roles.Code,
		"phone_2":   roles.Code,
		"errorcode": roles.WeakCode, "productid": roles.Identifier, "hybrid": roles.None, "valid": roles.None,
		"objectid":     roles.Identifier,
		"latitude_deg": roles.Latitude, "stop_lon": roles.Longitude, "geo_point_2d": roles.Position,
		"Lat/Lon": roles.Position, "translation": roles.None,
		"tag_list": roles.List, "Labels": roles.List, "Row Labels": roles.None, "start_date": roles.Date,
		"Number of artists in the labor force": roles.Amount, "Total enrollment": roles.Amount,
		"Total deaths to date": roles.Amount, "Total deaths Proportions": roles.Measure, "Date total": roles.Amount,
		"Cost of Reports (£)": roles.Measure, "Effective rate date": roles.Date,
		"Average Total Payments": roles.Measure, "Unemployment_rate": roles.Measure, "Cancers (%)": roles.Measure,
		"GDP per capita": roles.Measure, "total_fat_g": roles.Measure, "bill_length_mm": roles.Length,
		"Sample_size": roles.Ordinal, "Round Lot Size": roles.Ordinal, "birthMonth": roles.Ordinal,
		"Prior Year\nCurrent\nMonth": roles.Ordinal, "age_years": roles.Measure, "Number": roles.Identifier,
		"Fiscal Year": roles.Year, "Final result": roles.Result,
		"result_time": roles.None, "Price (EUR)": roles.Measure, "(lat)": roles.Latitude, "2024": roles.None,
		"lat" + strings.Repeat("x", 200): roles.None,
	} {
		if got := roles.Of(name); got != want {
			t.Errorf("%q: role %d, want %d", name, got, want)
		}
	}
}

func TestStem(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		role roles.Role
		want string
		ok   bool
	}{
		{"pickup_latitude", roles.Latitude, "pickup ", true}, {"startLon", roles.Longitude, "start ", true},
		{"reclat", roles.Latitude, "rec", true},
		{"lat2", roles.Latitude, "2", true}, {"lon_start", roles.Longitude, " start", true},
		{"Längengrad", roles.Longitude, "", true},
		{"price", roles.Latitude, "", false}, {"lon", roles.Latitude, "", false},
	} {
		if got, ok := roles.Stem(tt.name, tt.role); got != tt.want || ok != tt.ok {
			t.Errorf("%q: %q, %t; want %q, %t", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}
