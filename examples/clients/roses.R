# Reads the prices and names of the fragrant roses into a data frame, cheapest first.
url <- Sys.getenv("HERBARIUM_URL", "http://127.0.0.1:8080")
query <- "search=rose&tags=fragrant&sort=price&_fields=price,title"
# Values are text, such as 007. Convert the columns that you calculate with: as.numeric(frame$price)
frame <- read.csv(paste0(url, "/api/v1/garden/catalog/data.csv?", query), colClasses = "character", na.strings = character(), encoding = "UTF-8")
write.table(frame, sep = "\t", quote = FALSE, row.names = FALSE, col.names = FALSE)
