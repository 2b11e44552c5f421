package store

import (
	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// The positions of herb.PlantFields.
const (
	fieldID = iota
	fieldName
	fieldTag
)

// Row is a plant with the columns derived from it, which make all databases sort and search in the same way.
type Row struct {
	ID       int64
	Name     string
	NameKey  []byte // sort key of the name
	Tag      string // also empty if none was given
	TagGiven bool
	TagKey   []byte // sort key of the tag; nil for an empty one, which is not sorted
	Words    []Word // of the name and the tag
}

// Word is one word of a plant and its position.
type Word struct {
	Text  string
	Field int // position of the field
	Pos   int // position of the word in the field
}

// NewRow returns the row of a plant.
func NewRow(p herb.NewPlant) Row {
	r := Row{ID: p.ID, Name: p.Name, NameKey: []byte(text.CollationKey(p.Name))}
	if p.Tag != nil {
		r.Tag, r.TagGiven = *p.Tag, true
	}
	if r.Tag != "" {
		r.TagKey = []byte(text.CollationKey(r.Tag))
	}
	r.addWords(fieldName, r.Name)
	r.addWords(fieldTag, r.Tag)
	return r
}

func (r *Row) addWords(field int, value string) {
	for pos, w := range text.AppendWords(nil, value) {
		r.Words = append(r.Words, Word{Text: w, Field: field, Pos: pos})
	}
}
