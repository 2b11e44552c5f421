package main

// shape is one question in both languages.
type shape struct {
	name, query, sql string
}

// shapes are questions that people ask of a catalogue. Columns are in the order of _by and
// _measure.
func shapes() []shape {
	return []shape{
		{"total", "_measure=count&_measure=sum:price&_measure=mean:price",
			"SELECT count(*), sum(price), avg(price) FROM items"},
		{"count-category", "_by=category", "SELECT category, count(*) FROM items GROUP BY 1"},
		{"sum-category", "_by=category&_measure=sum:price", "SELECT category, sum(price) FROM items GROUP BY 1"},
		{
			"sum-author", "_by=author&_measure=sum:price&_sort=-sum:price",
			"SELECT author, sum(price) FROM items GROUP BY 1 ORDER BY 2 DESC LIMIT 100",
		},
		{
			"mean-author", "_by=author&_measure=count&_measure=mean:price&_sort=-mean:price",
			"SELECT author, count(*), avg(price) FROM items GROUP BY 1 ORDER BY 3 DESC LIMIT 100",
		},
		{"count-tag", "_by=tags&_top=1000",
			"SELECT tag, count(*) FROM (SELECT unnest(string_split(tags, ',')) AS tag FROM items) GROUP BY 1"},
		{"count-month", "_by=date:month&_top=1000", "SELECT strftime(date, '%Y-%m'), count(*) FROM items GROUP BY 1"},
		{
			"sum-month-category", "_by=date:month&_by=category&_measure=sum:price&_sort=-sum:price&_top=1000",
			"SELECT strftime(date_trunc('month', date), '%Y-%m'), category, sum(price) FROM items GROUP BY ALL ORDER " +
				"BY 3 DESC LIMIT 1000",
		},
		{
			"sum-author-category", "_by=author&_by=category&_measure=sum:price&_sort=-sum:price",
			"SELECT author, category, sum(price) FROM items GROUP BY ALL ORDER BY 3 DESC LIMIT 100",
		},
		{
			"extremes-year", "_by=date:year&_measure=min:price&_measure=max:price",
			"SELECT year(date), min(price), max(price) FROM items GROUP BY 1",
		},
		{"count-price", "_by=price:10", "SELECT 10 * floor(price / 10)::INT, count(*) FROM items GROUP BY 1"},
		{"median-category", "_by=category&_measure=median:price",
			"SELECT category, quantile_cont(price::DOUBLE, 0.5) FROM items GROUP BY 1"},
		{"p90-month", "_by=date:month&_measure=p90:price&_top=1000",
			"SELECT strftime(date, '%Y-%m'), quantile_disc(price, 0.9) FROM items GROUP BY 1"},
		{"distinct-category", "_by=category&_measure=distinct:author",
			"SELECT category, count(DISTINCT author) FROM items GROUP BY 1"},
		{
			"filtered-mean", "_by=status&_measure=mean:price&category=shrub",
			"SELECT status, avg(price) FROM items WHERE category = 'shrub' GROUP BY 1",
		},
		{
			"filtered-few", "_by=category&_measure=sum:price&price[gte]=495",
			"SELECT category, sum(price) FROM items WHERE price >= 495 GROUP BY 1",
		},
		{
			"filtered-day", "_by=author&_measure=sum:price&_sort=-sum:price&date=2020-02-29",
			"SELECT author, sum(price) FROM items WHERE date = DATE '2020-02-29' GROUP BY 1 ORDER BY 2 DESC LIMIT 100",
		},
	}
}
