CREATE TABLE IF NOT EXISTS products (
  id   uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  sku  text NOT NULL UNIQUE,
  name text NOT NULL
);
