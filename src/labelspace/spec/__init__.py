"""Words and files → spaces and prices: orders, groups, taxonomies and prices as people write them."""
