//go:build !race

package httpapi_test

// underRace is false: budgets of allocations hold exactly.
const underRace = false
