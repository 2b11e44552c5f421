package herb

// Visibility is what a client may see of a version of a dataset.
type Visibility struct {
	Values bool // the records, and everything that is computed from them or quotes them
	Report bool // the import report, and the changes since the previous version
	Source bool // the kept source, which has the hidden columns and the excluded rows
}

// See returns what a client may see of a version. Of several versions, such as a kept version that
// is shown while another one is live, it is what the client may see of each of them. No other
// function decides this: listings, pages, reports and searches call it. The zero Principal is a
// client without a valid key.
func (p Principal) See(d Dataset, others ...Dataset) Visibility {
	publishes := p.MayPublish(d.Ref)
	reads := !d.Access.NeedsKey() || p.May(d.ReadScopes()...)
	v := Visibility{
		Values: reads,
		Report: reads || publishes,
		Source: publishes || reads && d.Settings != nil && d.Settings.Public,
	}
	for _, o := range others {
		also := p.See(o)
		v = Visibility{v.Values && also.Values, v.Report && also.Report, v.Source && also.Source}
	}
	return v
}

// Describe returns what a client may see of the description of a version: publishers everything,
// readers no text of the file beside the records, others no values. others are as in See.
func (p Principal) Describe(d Dataset, others ...Dataset) Dataset {
	switch {
	case p.MayPublish(d.Ref):
		return d
	case p.See(d, others...).Report:
		return d.ForReaders()
	}
	return d.WithoutValues()
}

// MayPublish reports whether the principal may publish a dataset.
func (p Principal) MayPublish(ref Ref) bool { return p.May(ref.PublishScopes()...) }
