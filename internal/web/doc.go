// Package web joins the pages that all share (site), those of datasets (browse) and those that
// publish (drafts), and embeds their templates and assets.
//
// # Rendering
//
// Pages are rendered on the server with html/template and work without a script. The script of the
// pages requests the same URLs and replaces the main part of the page, so that nothing is rendered
// in two places.
//
// # Every view is a URL
//
// The query string of a table is that of the listing it shows, parameter by parameter. Parameters
// that only the page uses (the open record, the pinned column, open filters) begin with an
// underscore; a field with such a name is filtered as name[eq].
//
// # Publishing
//
// The pages for publishing are forms, too: each POST answers with a redirect to the page that shows
// the result. A form carries what the page has shown, so that an edit of one tab does not revert
// that of another, and nothing is published that the publisher has not seen.
//
// # Untrusted datasets
//
// Values are escaped, isolated from the direction of the surrounding text, and become links only if
// they are http or https URLs. The content security policy allows only our own script and style
// files. Images of other hosts are allowed on pages of datasets with an image column, over https;
// they are loaded lazily and without a referrer.
package web
