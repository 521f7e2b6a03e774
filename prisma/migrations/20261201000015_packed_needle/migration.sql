-- What a value is packed as in a column of packed numbers: to look for it without unpacking the column. Finding it is no
-- proof (it may lie across two values), not finding it is.
CREATE FUNCTION packed_needle(b bytea, value bigint) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN substring(
  int8send(
    (value - CASE WHEN get_byte(b, 1) = 0 THEN 0 ELSE ('x' || encode(substring(b FROM 3 FOR 8), 'hex'))::bit(64)::bigint END)
    / CASE WHEN get_byte(b, 0) & 128 = 0 THEN 1 ELSE 1000 END
    + CASE WHEN get_byte(b, 0) & 64 = 0 THEN 0 ELSE 1 END
  )
  FROM 9 - (get_byte(b, 0) & 7)
);
