// Package web makes the pages for people: the catalogue, the data browser of each dataset with its documentation and its
// versions, and what machines read of the same (schema.org, DCAT).
//
// # One rendering
//
// Pages are rendered here, with html/template, and need no script. The one script that there is asks for the same pages and
// puts their main part in the place of the old one, so that there is nothing that two programs would have to render alike.
//
// # The address is the state
//
// The query of a data browser's address is that of the listing it shows, parameter by parameter, so that the API call behind
// a page is always at hand. What the page alone knows (chosen columns, the opened record, opened filters) has names that
// begin with an underscore; a field of such a name is filtered as name[eq].
//
// # What a dataset may do to a page
//
// Nothing. Values are escaped, isolated from the text around them, and never become addresses of another kind than http and
// https. The content policy allows our own script and style files alone; images of other hosts are allowed where a dataset
// has a field of images, over https, and are fetched lazily and without a referrer.
package web
