"""One report object, many forms: each file here turns a Report into one of them."""
